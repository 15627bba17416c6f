// The lowest version of TLS of the OpenSSL that libcurl uses. URLSession on Linux has no setting for it and gives no
// access to its handles, but OpenSSL reads a default for every connection from its configuration, to which this adds
// one line in the process, after the system's own lines.
#define _GNU_SOURCE
#include "ProcessSystem.h"

#if defined(__linux__)

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

// OPENSSL_INIT_LOAD_CONFIG
#define LOAD_CONFIG 0x40

// The functions are found by their names: no header and no library of OpenSSL is needed to build this package, and
// the copy that libcurl has loaded is the one to set up.
typedef struct {
  int (*init)(uint64_t, const void *);
  char *(*defaultFile)(void);
  void *(*newConfiguration)(void *);
  void (*freeConfiguration)(void *);
  int (*loadFile)(void *, const char *, long *);
  int (*loadText)(void *, void *, long *);
  char *(*string)(const void *, const char *, const char *);
  void *(*newText)(const void *, int);
  int (*freeText)(void *);
  int (*apply)(const void *, const char *, unsigned long);
  void (*clearErrors)(void);
  void (*freeMemory)(void *, const char *, int);
} OpenSSL;

static int find(void *library, const char *name, void *function)
{
  void *found = dlsym(library, name);
  memcpy(function, &found, sizeof found);
  return found != NULL;
}

static int load(OpenSSL *ssl)
{
  static const char *const names[] = { "libssl.so.3", "libssl.so.4", "libssl.so.1.1" };
  void *library = NULL;
  for (size_t i = 0; !library && i < sizeof names / sizeof *names; i++) {
    library = dlopen(names[i], RTLD_NOW | RTLD_NOLOAD);
  }
  return library && find(library, "OPENSSL_init_ssl", &ssl->init)
    && find(library, "CONF_get1_default_config_file", &ssl->defaultFile)
    && find(library, "NCONF_new", &ssl->newConfiguration)
    && find(library, "NCONF_free", &ssl->freeConfiguration)
    && find(library, "NCONF_load", &ssl->loadFile)
    && find(library, "NCONF_load_bio", &ssl->loadText)
    && find(library, "NCONF_get_string", &ssl->string)
    && find(library, "BIO_new_mem_buf", &ssl->newText) && find(library, "BIO_free", &ssl->freeText)
    && find(library, "CONF_modules_load", &ssl->apply)
    && find(library, "ERR_clear_error", &ssl->clearErrors)
    && find(library, "CRYPTO_free", &ssl->freeMemory);
}

// Applies the lines to OpenSSL. They are the text of a whole configuration, since one cannot be loaded twice.
static int apply(const OpenSSL *ssl, const char *text, int length)
{
  long line = 0;
  void *configuration = ssl->newConfiguration(NULL);
  void *lines = ssl->newText(text, length);
  int isApplied = configuration && lines && ssl->loadText(configuration, lines, &line) > 0
    && ssl->apply(configuration, "fieldforce_tls", 0) > 0;
  if (lines) ssl->freeText(lines);
  if (configuration) ssl->freeConfiguration(configuration);
  return isApplied ? 0 : -1;
}

// Adds the line to the section of defaults in the system's configuration, or makes such a section.
static int demand(const OpenSSL *ssl, void *configuration, const char *file)
{
  long line = 0;
  int isLoaded = file && ssl->loadFile(configuration, file, &line) > 0;
  const char *top = isLoaded ? ssl->string(configuration, NULL, "openssl_conf") : NULL;
  const char *names = top ? ssl->string(configuration, top, "ssl_conf") : NULL;
  const char *defaults = names ? ssl->string(configuration, names, "system_default") : NULL;
  const char *lowest = defaults ? ssl->string(configuration, defaults, "MinProtocol") : NULL;
  if (lowest && (strcmp(lowest, "TLSv1.2") == 0 || strcmp(lowest, "TLSv1.3") == 0)) return 0;

  if (!names) names = "fieldforce_tls_names";
  if (!defaults) defaults = "fieldforce_tls_defaults";
  char text[8192];
  int length = snprintf(
    text, sizeof text,
    "fieldforce_tls = fieldforce_tls_start\n"
    "%s%s\n"
    "[fieldforce_tls_start]\nssl_conf = %s\n"
    "[%s]\nsystem_default = %s\n"
    "[%s]\nMinProtocol = TLSv1.2\n",
    isLoaded ? ".include = " : "", isLoaded ? file : "", names, names, defaults, defaults);
  return length > 0 && (size_t)length < sizeof text ? apply(ssl, text, length) : -1;
}

int process_demand_tls_1_2(void)
{
  OpenSSL ssl;
  if (!load(&ssl)) return -1;
  // The system's settings come first: what is loaded later replaces this.
  ssl.init(LOAD_CONFIG, NULL);
  void *configuration = ssl.newConfiguration(NULL);
  char *file = ssl.defaultFile();
  int result = configuration ? demand(&ssl, configuration, file) : -1;
  if (configuration) ssl.freeConfiguration(configuration);
  if (file) ssl.freeMemory(file, __FILE__, __LINE__);
  ssl.clearErrors();
  return result;
}

#else

int process_demand_tls_1_2(void) { return -1; }

#endif
