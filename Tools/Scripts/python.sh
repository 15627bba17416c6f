# Sourced: python_env NAME PACKAGE... makes (once) a virtual environment and prints its python.
python_env() {
  local env="$PWD/.build-python/$1"
  shift
  if [ ! -e "$env/ready" ]; then
    python3 -m venv "$env" >&2
    "$env/bin/pip" install --quiet --disable-pip-version-check "$@" >&2
    touch "$env/ready"
  fi
  echo "$env/bin/python"
}
