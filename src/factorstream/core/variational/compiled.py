import os


def applies():
    if os.environ.get("FACTORSTREAM_COMPILED") == "0":
        return False
    try:
        return True
    except Exception:
        return False
