# Sourced by ./demo and ./test: makes .venv and installs this project into it, once per change of pyproject.toml.
# usage: make_venv EXTRA   (EXTRA is empty, or the name of an extra such as dev)

find_python() {
    for candidate in python3.14 python3.13 python3.12 python3.11 python3 python; do
        if command -v "$candidate" >/dev/null 2>&1 &&
            "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
            echo "$candidate"
            return
        fi
    done
    echo "needs Python 3.11 or newer on the PATH" >&2
    return 1
}

make_venv() {
    extra=$1
    version=$(cksum pyproject.toml)
    for stamp in ".venv/.installed-$extra" ".venv/.installed-dev"; do
        if [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$version" ]; then
            return
        fi
    done
    echo "Setting up .venv (once, takes about a minute) ..." >&2
    python=$(find_python)
    .venv/bin/python -c '' 2>/dev/null || "$python" -m venv --clear .venv
    .venv/bin/python -m pip install --quiet --disable-pip-version-check --no-input --editable ".${extra:+[$extra]}"
    echo "$version" >".venv/.installed-$extra"
}
