#include <libpq-fe.h>

/* The field of an error's five-letter code; a character constant has no number in Swift. */
static const int fieldforce_sqlstate = PG_DIAG_SQLSTATE;
