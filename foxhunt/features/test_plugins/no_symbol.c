/* Refused: a shared library of something else. */
int something_else(void);
int something_else(void) { return 1; }
