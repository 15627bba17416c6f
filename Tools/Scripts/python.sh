# Sourced: python_env NAME makes a virtual environment with the packages of requirements/NAME.txt, unless it
# exists, and prints its python.
#
# Every package, also of packages that these need, has its version and the hashes of its files there: pip installs
# nothing else. After a change of requirements/NAME.in:
#
#   pip-compile --generate-hashes --no-header --no-annotate --strip-extras -o NAME.txt NAME.in
python_env() {
  local requirements="$PWD/Tools/Scripts/requirements/$1.txt"
  # Another list is another environment.
  local env
  env="$PWD/.build-python/$1-$(sha256sum "$requirements" | cut -c 1-12)"
  if [ ! -e "$env/ready" ]; then
    python3 -m venv "$env" >&2
    "$env/bin/pip" install --quiet --disable-pip-version-check --require-hashes -r "$requirements" >&2
    touch "$env/ready"
  fi
  echo "$env/bin/python"
}
