# Sourced by the other scripts: installs the Debian packages that are missing beside the Swift toolchain.
# Does nothing, and needs no rights, when everything is there. Names the packages and asks before it calls sudo,
# unless CI is set.

# need FILE PACKAGE: FILE is what the compiler or the script looks for.
missing=()
need() { [ -e "$1" ] || missing+=("$2"); }

if [ "$(uname -s)" = Linux ] && command -v dpkg >/dev/null; then
  arch=$(dpkg-architecture -qDEB_HOST_MULTIARCH 2>/dev/null || echo "$(uname -m)-linux-gnu")
  need /usr/include/sqlite3.h libsqlite3-dev
  { [ -e "/usr/include/$arch/curl/curl.h" ] || [ -e /usr/include/curl/curl.h ]; } \
    || missing+=(libcurl4-openssl-dev)
  need /usr/include/zlib.h zlib1g-dev
  need /usr/include/security/pam_appl.h libpam0g-dev
  need /usr/include/postgresql/libpq-fe.h libpq-dev
  need /usr/include/libxml2 libxml2-dev
  # The package manager fetches over git and https.
  for package in git ca-certificates "$@"; do
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" = installed ] \
      || missing+=("$package")
  done
  if [ ${#missing[@]} -gt 0 ]; then
    echo "installing: ${missing[*]}" >&2
    root=()
    if [ "$(id -u)" != 0 ]; then
      command -v sudo >/dev/null || {
        echo "error: installing needs rights. Run as root: apt-get install ${missing[*]}" >&2
        exit 1
      }
      if [ -z "${CI:-}" ]; then
        [ -t 0 ] || {
          echo "error: packages are missing, and there is no terminal to ask for sudo." \
            "Install them yourself, or set CI=true: sudo apt-get install ${missing[*]}" >&2
          exit 1
        }
        read -r -p "Install these packages with sudo apt-get? [y/N] " reply
        case "$reply" in
          [yY] | [yY][eE][sS]) ;;
          *)
            echo "error: not installed. Install them yourself: sudo apt-get install ${missing[*]}" >&2
            exit 1
            ;;
        esac
      fi
      root=(sudo)
    fi
    "${root[@]}" apt-get update -qq >&2
    "${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "${missing[@]}" >&2
  fi
fi

command -v swift >/dev/null || {
  echo "error: no swift on the PATH. Install a Swift 6.3 toolchain from swift.org first." >&2
  exit 1
}
