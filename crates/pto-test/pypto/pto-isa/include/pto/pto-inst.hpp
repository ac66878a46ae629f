#pragma once
#define PTO_ISA_GENERATION 1
