#include "CWindow.h"

#include <webkit2/webkit2.h>

struct ff_window {
  GtkWidget *window;
  WebKitWebView *view;
  WebKitWebsiteDataManager *data;
  ff_events events;
};

struct ff_decision {
  WebKitPolicyDecision *policy;
  WebKitWebView *view;
  /// The address of a page that is meant for a window of its own; else NULL.
  char *other_window;
};

bool ff_start(void) { return gtk_init_check(NULL, NULL); }
void ff_run(void) { gtk_main(); }
void ff_stop(void) { gtk_main_quit(); }

typedef struct {
  ff_done work;
  void *context;
} job;

static gboolean run_job(gpointer data) {
  job *one = data;
  one->work(one->context);
  g_free(one);
  return G_SOURCE_REMOVE;
}

void ff_on_main_thread(ff_done work, void *context) {
  job *one = g_new(job, 1);
  *one = (job){work, context};
  g_idle_add_full(G_PRIORITY_DEFAULT, run_job, one, NULL);
}

// MARK: The window

static gboolean on_delete(GtkWidget *widget, GdkEvent *event, gpointer data) {
  ff_window *window = data;
  window->events.closed(window->events.context);
  return TRUE;
}

ff_window *ff_window_new(const char *title, int width, int height, bool fills_screen, ff_events events) {
  ff_window *window = g_new0(ff_window, 1);
  window->events = events;
  window->window = gtk_window_new(GTK_WINDOW_TOPLEVEL);
  gtk_window_set_title(GTK_WINDOW(window->window), title);
  gtk_window_set_default_size(GTK_WINDOW(window->window), width, height);
  if (fills_screen) gtk_window_fullscreen(GTK_WINDOW(window->window));
  g_signal_connect(window->window, "delete-event", G_CALLBACK(on_delete), window);
  gtk_widget_show_all(window->window);
  return window;
}

// MARK: What the view reports

static gboolean on_decide(
  WebKitWebView *view, WebKitPolicyDecision *policy, WebKitPolicyDecisionType type, gpointer data) {
  ff_window *window = data;
  if (type == WEBKIT_POLICY_DECISION_TYPE_RESPONSE) return FALSE;
  WebKitNavigationAction *action =
    webkit_navigation_policy_decision_get_navigation_action(WEBKIT_NAVIGATION_POLICY_DECISION(policy));
  const char *url = webkit_uri_request_get_uri(webkit_navigation_action_get_request(action));
  ff_decision *decision = g_new0(ff_decision, 1);
  decision->policy = g_object_ref(policy);
  decision->view = g_object_ref(view);
  if (type == WEBKIT_POLICY_DECISION_TYPE_NEW_WINDOW_ACTION) decision->other_window = g_strdup(url);
  window->events.navigate(
    window->events.context, decision, url, webkit_navigation_action_is_user_gesture(action));
  return TRUE;
}

void ff_decision_finish(ff_decision *decision, bool allows) {
  if (allows && !decision->other_window)
    webkit_policy_decision_use(decision->policy);
  else
    webkit_policy_decision_ignore(decision->policy);
  // There is one window: what is meant for another one is shown in it.
  if (allows && decision->other_window) webkit_web_view_load_uri(decision->view, decision->other_window);
  g_object_unref(decision->policy);
  g_object_unref(decision->view);
  g_free(decision->other_window);
  g_free(decision);
}

static void on_load_changed(WebKitWebView *view, WebKitLoadEvent event, gpointer data) {
  ff_window *window = data;
  const char *url = webkit_web_view_get_uri(view);
  if (event == WEBKIT_LOAD_FINISHED && url) window->events.loaded(window->events.context, url);
}

static gboolean on_load_failed(
  WebKitWebView *view, WebKitLoadEvent event, const char *url, GError *error, gpointer data) {
  ff_window *window = data;
  // The load was stopped, by this program or by a later navigation.
  if (g_error_matches(error, WEBKIT_NETWORK_ERROR, WEBKIT_NETWORK_ERROR_CANCELLED)) return FALSE;
  if (error->domain == WEBKIT_POLICY_ERROR) return FALSE;
  window->events.failed(window->events.context, url, error->message);
  return TRUE;
}

static gboolean on_tls_failed(
  WebKitWebView *view, const char *url, GTlsCertificate *certificate, GTlsCertificateFlags flags,
  gpointer data) {
  ff_window *window = data;
  window->events.failed(window->events.context, url, "The server's certificate is not valid.");
  return TRUE;
}

static gboolean on_permission(WebKitWebView *view, WebKitPermissionRequest *request, gpointer data) {
  // Camera, microphone and location are not part of the container.
  webkit_permission_request_deny(request);
  return TRUE;
}

static void on_process_terminated(
  WebKitWebView *view, WebKitWebProcessTerminationReason reason, gpointer data) {
  ff_window *window = data;
  const char *url = webkit_web_view_get_uri(view);
  window->events.failed(window->events.context, url ? url : "", "The page's process has ended.");
}

// MARK: The view

bool ff_window_begin(
  ff_window *window, const char *profile, const char *user_agent, const char *certificate,
  const char *proxy, bool is_inspectable) {
  GError *error = NULL;
  GTlsCertificate *accepted = g_tls_certificate_new_from_pem(certificate, -1, &error);
  if (!accepted) {
    g_clear_error(&error);
    return false;
  }
  if (window->view) gtk_container_remove(GTK_CONTAINER(window->window), GTK_WIDGET(window->view));
  g_clear_object(&window->data);
  window->data =
    webkit_website_data_manager_new("base-data-directory", profile, "base-cache-directory", profile, NULL);
  WebKitNetworkProxySettings *settings = webkit_network_proxy_settings_new(proxy, NULL);
  webkit_website_data_manager_set_network_proxy_settings(
    window->data, WEBKIT_NETWORK_PROXY_MODE_CUSTOM, settings);
  webkit_network_proxy_settings_free(settings);
  webkit_website_data_manager_set_persistent_credential_storage_enabled(window->data, FALSE);
  // Cookies stay in memory: no storage is set for them. Those of the org's other domains are third-party cookies.
  webkit_cookie_manager_set_accept_policy(
    webkit_website_data_manager_get_cookie_manager(window->data), WEBKIT_COOKIE_POLICY_ACCEPT_ALWAYS);
  WebKitWebContext *context = webkit_web_context_new_with_website_data_manager(window->data);
  webkit_web_context_set_cache_model(context, WEBKIT_CACHE_MODEL_WEB_BROWSER);
  webkit_web_context_allow_tls_certificate_for_host(context, accepted, "localhost");
  g_object_unref(accepted);
  WebKitWebView *view = WEBKIT_WEB_VIEW(webkit_web_view_new_with_context(context));
  g_object_unref(context);
  WebKitSettings *options = webkit_web_view_get_settings(view);
  char *agent = g_strconcat(user_agent, " Hybrid ", webkit_settings_get_user_agent(options), NULL);
  webkit_settings_set_user_agent(options, agent);
  g_free(agent);
  webkit_settings_set_enable_developer_extras(options, is_inspectable);
  webkit_settings_set_enable_write_console_messages_to_stdout(options, FALSE);
  g_signal_connect(view, "decide-policy", G_CALLBACK(on_decide), window);
  g_signal_connect(view, "load-changed", G_CALLBACK(on_load_changed), window);
  g_signal_connect(view, "load-failed", G_CALLBACK(on_load_failed), window);
  g_signal_connect(view, "load-failed-with-tls-errors", G_CALLBACK(on_tls_failed), window);
  g_signal_connect(view, "permission-request", G_CALLBACK(on_permission), window);
  g_signal_connect(view, "web-process-terminated", G_CALLBACK(on_process_terminated), window);
  gtk_container_add(GTK_CONTAINER(window->window), GTK_WIDGET(view));
  gtk_widget_show(GTK_WIDGET(view));
  gtk_widget_grab_focus(GTK_WIDGET(view));
  window->view = view;
  return true;
}

void ff_window_load(ff_window *window, const char *url) { webkit_web_view_load_uri(window->view, url); }

typedef struct {
  ff_done done;
  void *context;
} completion;

static completion *make_completion(ff_done done, void *context) {
  completion *one = g_new(completion, 1);
  *one = (completion){done, context};
  return one;
}

static void finish_completion(GObject *source, GAsyncResult *result, gpointer data) {
  completion *one = data;
  one->done(one->context);
  g_free(one);
}

void ff_window_clear(ff_window *window, ff_done done, void *context) {
  webkit_website_data_manager_clear(
    window->data, WEBKIT_WEBSITE_DATA_ALL, 0, NULL, finish_completion, make_completion(done, context));
}

void ff_window_set_cookies(
  ff_window *window, const ff_cookie *cookies, size_t count, ff_done done, void *context) {
  WebKitCookieManager *manager = webkit_website_data_manager_get_cookie_manager(window->data);
  if (count == 0) {
    webkit_website_data_manager_clear(
      window->data, WEBKIT_WEBSITE_DATA_COOKIES, 0, NULL, finish_completion, make_completion(done, context));
    return;
  }
  GList *list = NULL;
  for (size_t index = 0; index < count; index++) {
    const ff_cookie *one = &cookies[index];
    char *domain = one->includes_subdomains ? g_strconcat(".", one->host, NULL) : g_strdup(one->host);
    SoupCookie *cookie = soup_cookie_new(one->name, one->value, domain, "/", -1);
    g_free(domain);
    soup_cookie_set_secure(cookie, one->is_secure);
    soup_cookie_set_same_site_policy(
      cookie, one->is_secure ? SOUP_SAME_SITE_POLICY_NONE : SOUP_SAME_SITE_POLICY_LAX);
    list = g_list_prepend(list, cookie);
  }
  list = g_list_reverse(list);
  webkit_cookie_manager_replace_cookies(manager, list, NULL, finish_completion, make_completion(done, context));
  g_list_free_full(list, (GDestroyNotify)soup_cookie_free);
}

// MARK: Looking at the page

typedef struct {
  ff_result done;
  void *context;
  char *file;
} look;

static void finish_evaluation(GObject *source, GAsyncResult *result, gpointer data) {
  look *one = data;
  GError *error = NULL;
  JSCValue *value =
    webkit_web_view_call_async_javascript_function_finish(WEBKIT_WEB_VIEW(source), result, &error);
  char *json = value ? jsc_value_to_json(value, 0) : NULL;
  one->done(one->context, json, error ? error->message : NULL);
  g_free(json);
  if (value) g_object_unref(value);
  g_clear_error(&error);
  g_free(one);
}

void ff_window_evaluate(ff_window *window, const char *body, ff_result done, void *context) {
  look *one = g_new0(look, 1);
  *one = (look){done, context, NULL};
  webkit_web_view_call_async_javascript_function(
    window->view, body, -1, NULL, NULL, NULL, NULL, finish_evaluation, one);
}

static void finish_picture(GObject *source, GAsyncResult *result, gpointer data) {
  look *one = data;
  GError *error = NULL;
  cairo_surface_t *surface = webkit_web_view_get_snapshot_finish(WEBKIT_WEB_VIEW(source), result, &error);
  const char *problem = error ? error->message : NULL;
  if (surface) {
    cairo_status_t status = cairo_surface_write_to_png(surface, one->file);
    if (status != CAIRO_STATUS_SUCCESS) problem = cairo_status_to_string(status);
    cairo_surface_destroy(surface);
  }
  one->done(one->context, problem ? NULL : "null", problem);
  g_clear_error(&error);
  g_free(one->file);
  g_free(one);
}

void ff_window_picture(ff_window *window, const char *file, ff_result done, void *context) {
  look *one = g_new0(look, 1);
  *one = (look){done, context, g_strdup(file)};
  webkit_web_view_get_snapshot(
    window->view, WEBKIT_SNAPSHOT_REGION_VISIBLE, WEBKIT_SNAPSHOT_OPTIONS_NONE, NULL, finish_picture, one);
}
