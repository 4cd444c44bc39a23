import pytest

from factorstream.extras import MissingExtraError, require


def test_missing_extra_is_one_sentence_with_the_command():
    with pytest.raises(MissingExtraError, match=r'pip install "factorstream\[report\]"') as caught:
        require("json", "surely_not_installed")
    assert "surely_not_installed" in str(caught.value)
    assert "json" not in str(caught.value).replace("surely_not_installed", "")
