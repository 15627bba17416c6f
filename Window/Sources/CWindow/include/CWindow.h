// A window with one web view, and the relay that answers for https://localhost. All functions are called on the main
// thread, unless their comment says otherwise.
#pragma once
#include <stdbool.h>
#include <stddef.h>

typedef struct ff_window ff_window;
/// A navigation that waits for its decision.
typedef struct ff_decision ff_decision;

/// A cookie of the web view, kept in memory.
typedef struct {
  const char *_Nonnull name;
  const char *_Nonnull value;
  const char *_Nonnull host;
  bool is_secure;
  bool includes_subdomains;
} ff_cookie;

/// What the window reports. Texts are valid during the call.
typedef struct {
  void *_Nullable context;
  /// A page wants to go to an address; `ff_decision_finish` must be called once.
  void (*_Nonnull navigate)(
    void *_Nullable context, ff_decision *_Nonnull decision, const char *_Nonnull url, bool is_user_gesture);
  void (*_Nonnull loaded)(void *_Nullable context, const char *_Nonnull url);
  void (*_Nonnull failed)(void *_Nullable context, const char *_Nonnull url, const char *_Nonnull message);
  /// The user has closed the window.
  void (*_Nonnull closed)(void *_Nullable context);
} ff_events;

typedef void (*ff_done)(void *_Nullable context);
typedef void (*ff_result)(void *_Nullable context, const char *_Nullable text, const char *_Nullable error);

/// Prepares GTK. Returns false if there is no display.
bool ff_start(void);
/// Runs until `ff_stop`.
void ff_run(void);
void ff_stop(void);
/// Calls `work` on the main thread; may be called on any thread.
void ff_on_main_thread(ff_done _Nonnull work, void *_Nullable context);

ff_window *_Nonnull ff_window_new(
  const char *_Nonnull title, int width, int height, bool fills_screen, ff_events events);
/// Begins with a new view, whose data lie in the folder `profile`. `user_agent` stands in front of the engine's own.
/// Returns false if the certificate cannot be read.
bool ff_window_begin(
  ff_window *_Nonnull window, const char *_Nonnull profile, const char *_Nonnull user_agent,
  const char *_Nonnull certificate, const char *_Nonnull proxy, bool is_inspectable);
/// Removes what the engine keeps in the present profile.
void ff_window_clear(ff_window *_Nonnull window, ff_done _Nonnull done, void *_Nullable context);
/// Replaces all cookies.
void ff_window_set_cookies(
  ff_window *_Nonnull window, const ff_cookie *_Nullable cookies, size_t count, ff_done _Nonnull done,
  void *_Nullable context);
void ff_window_load(ff_window *_Nonnull window, const char *_Nonnull url);
void ff_decision_finish(ff_decision *_Nonnull decision, bool allows);
/// Runs the body of an async function in the page; the result is its value as JSON.
void ff_window_evaluate(
  ff_window *_Nonnull window, const char *_Nonnull body, ff_result _Nonnull done, void *_Nullable context);
/// Writes what the window shows as a PNG.
void ff_window_picture(
  ff_window *_Nonnull window, const char *_Nonnull file, ff_result _Nonnull done, void *_Nullable context);

/// Listens on a port of 127.0.0.1 as a SOCKS proxy with this user name and password. Connections to localhost:443 end
/// TLS here and continue on the Unix socket `path`; all others continue to where they lead.
///
/// Returns the port, or 0 and an error, to be freed.
int ff_relay_start(
  const char *_Nonnull path, const char *_Nonnull certificate, const char *_Nonnull password,
  char *_Nullable *_Nonnull error);
