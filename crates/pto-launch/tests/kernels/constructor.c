/* A library that does not survive being loaded. */
#include <stdlib.h>

__attribute__((constructor)) static void at_load(void) { abort(); }

void fill(void) {}
