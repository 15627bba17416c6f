#include "CWindow.h"

#include <gio/gio.h>
#include <gio/gunixsocketaddress.h>
#include <string.h>
#include <unistd.h>

// A web engine gives no other way to answer for https://localhost: it lets no program serve the scheme https. So its
// connections go through this proxy, which knows two kinds of them.

typedef struct {
  char *path;
  char *password;
  GTlsCertificate *certificate;
} relay;

/// The longest wait for a part of a handshake, in seconds.
static const guint handshake_timeout = 20;
static const char user_name[] = "window";

static bool read_exactly(GInputStream *input, guint8 *bytes, gsize count) {
  gsize done = 0;
  return g_input_stream_read_all(input, bytes, count, &done, NULL, NULL) && done == count;
}

static bool write_all(GOutputStream *output, const void *bytes, gsize count) {
  return g_output_stream_write_all(output, bytes, count, NULL, NULL, NULL);
}

/// Whether two texts are equal, in a time that depends on the length alone.
static bool is_equal(const char *one, gsize count, const char *other) {
  if (count != strlen(other)) return false;
  guint8 difference = 0;
  for (gsize index = 0; index < count; index++) difference |= (guint8)(one[index] ^ other[index]);
  return difference == 0;
}

/// The user name and the password of RFC 1929.
static bool is_authenticated(relay *this, GInputStream *input, GOutputStream *output) {
  guint8 head[2], name[256], password[256], length;
  if (!read_exactly(input, head, 2) || head[0] != 5) return false;
  guint8 methods[256];
  if (!read_exactly(input, methods, head[1])) return false;
  if (!memchr(methods, 2, head[1])) {
    write_all(output, "\x05\xff", 2);
    return false;
  }
  if (!write_all(output, "\x05\x02", 2)) return false;
  if (!read_exactly(input, head, 2) || head[0] != 1) return false;
  if (!read_exactly(input, name, head[1])) return false;
  if (!read_exactly(input, &length, 1) || !read_exactly(input, password, length)) return false;
  bool is_known = is_equal((char *)name, head[1], user_name);
  is_known &= is_equal((char *)password, length, this->password);
  return write_all(output, is_known ? "\x01\x00" : "\x01\x01", 2) && is_known;
}

/// Where the engine wants to connect to, to be freed; NULL if that cannot be read.
static char *read_target(GInputStream *input, guint16 *port) {
  guint8 head[4], length, bytes[256], number[2];
  if (!read_exactly(input, head, 4) || head[0] != 5 || head[1] != 1) return NULL;
  char *host = NULL;
  if (head[3] == 3) {
    if (!read_exactly(input, &length, 1) || !read_exactly(input, bytes, length)) return NULL;
    host = g_strndup((char *)bytes, length);
  } else if (head[3] == 1 || head[3] == 4) {
    if (!read_exactly(input, bytes, head[3] == 1 ? 4 : 16)) return NULL;
    GInetAddress *address = g_inet_address_new_from_bytes(
      bytes, head[3] == 1 ? G_SOCKET_FAMILY_IPV4 : G_SOCKET_FAMILY_IPV6);
    host = g_inet_address_to_string(address);
    g_object_unref(address);
  }
  if (!host || !read_exactly(input, number, 2)) {
    g_free(host);
    return NULL;
  }
  *port = (guint16)(number[0] << 8 | number[1]);
  return host;
}

static void splice_ended(GObject *source, GAsyncResult *result, gpointer loop) { g_main_loop_quit(loop); }

/// Copies both ways until one side ends.
static void splice(GIOStream *one, GIOStream *other) {
  GMainContext *context = g_main_context_new();
  g_main_context_push_thread_default(context);
  GMainLoop *loop = g_main_loop_new(context, FALSE);
  g_io_stream_splice_async(
    one, other, G_IO_STREAM_SPLICE_CLOSE_STREAM1 | G_IO_STREAM_SPLICE_CLOSE_STREAM2, G_PRIORITY_DEFAULT, NULL,
    splice_ended, loop);
  g_main_loop_run(loop);
  g_main_loop_unref(loop);
  g_main_context_pop_thread_default(context);
  g_main_context_unref(context);
}

// Whether the other end is a process of this user: a socket that another user put there would see what the engine sends.
static gboolean is_own(GSocketConnection *connection) {
  GCredentials *peer = g_socket_get_credentials(g_socket_connection_get_socket(connection), NULL);
  gboolean is_own = peer && g_credentials_get_unix_user(peer, NULL) == geteuid();
  g_clear_object(&peer);
  return is_own;
}

static GIOStream *connect_to(relay *this, bool is_app, const char *host, guint16 port) {
  GSocketClient *client = g_socket_client_new();
  GSocketConnection *connection;
  if (is_app) {
    GSocketAddress *address = g_unix_socket_address_new(this->path);
    connection = g_socket_client_connect(client, G_SOCKET_CONNECTABLE(address), NULL, NULL);
    g_object_unref(address);
    if (connection && !is_own(connection)) g_clear_object(&connection);
  } else {
    connection = g_socket_client_connect_to_host(client, host, port, NULL, NULL);
  }
  g_object_unref(client);
  return connection ? G_IO_STREAM(connection) : NULL;
}

static gboolean on_connection(
  GThreadedSocketService *service, GSocketConnection *connection, GObject *source, gpointer data) {
  relay *this = data;
  GIOStream *engine = G_IO_STREAM(connection);
  GInputStream *input = g_io_stream_get_input_stream(engine);
  GOutputStream *output = g_io_stream_get_output_stream(engine);
  GSocket *socket = g_socket_connection_get_socket(connection);
  g_socket_set_timeout(socket, handshake_timeout);
  guint16 port = 0;
  char *host = is_authenticated(this, input, output) ? read_target(input, &port) : NULL;
  if (!host) return TRUE;
  bool is_app = g_ascii_strcasecmp(host, "localhost") == 0 && port == 443;
  GIOStream *server = connect_to(this, is_app, host, port);
  g_free(host);
  // 5: connection refused.
  const char reply[] = {5, server ? 0 : 5, 0, 1, 0, 0, 0, 0, 0, 0};
  GIOStream *plain = NULL;
  if (write_all(output, reply, sizeof reply) && server) {
    plain = is_app ? g_tls_server_connection_new(engine, this->certificate, NULL) : g_object_ref(engine);
    if (plain && is_app && !g_tls_connection_handshake(G_TLS_CONNECTION(plain), NULL, NULL)) g_clear_object(&plain);
  }
  if (plain) {
    g_socket_set_timeout(socket, 0);
    splice(plain, server);
  }
  g_clear_object(&plain);
  g_clear_object(&server);
  return TRUE;
}

int ff_relay_start(const char *path, const char *certificate, const char *password, char **error) {
  GError *failure = NULL;
  relay *this = g_new0(relay, 1);
  this->path = g_strdup(path);
  this->password = g_strdup(password);
  this->certificate = g_tls_certificate_new_from_pem(certificate, -1, &failure);
  // Each connection has a thread of its own, for as long as it is open.
  GSocketService *service = g_threaded_socket_service_new(512);
  guint16 port = 0;
  if (this->certificate) {
    GInetAddress *loopback = g_inet_address_new_loopback(G_SOCKET_FAMILY_IPV4);
    GSocketAddress *address = g_inet_socket_address_new(loopback, 0);
    GSocketAddress *bound = NULL;
    if (g_socket_listener_add_address(
          G_SOCKET_LISTENER(service), address, G_SOCKET_TYPE_STREAM, G_SOCKET_PROTOCOL_TCP, NULL, &bound,
          &failure)) {
      port = g_inet_socket_address_get_port(G_INET_SOCKET_ADDRESS(bound));
      g_object_unref(bound);
    }
    g_object_unref(address);
    g_object_unref(loopback);
  }
  if (failure) {
    *error = g_strdup(failure->message);
    g_clear_error(&failure);
    g_object_unref(service);
    return 0;
  }
  g_signal_connect(service, "run", G_CALLBACK(on_connection), this);
  g_socket_service_start(service);
  return port;
}
