#pragma once

int pypto_answer();
const char *pypto_version();
