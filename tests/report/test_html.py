from factorstream.report.html import paragraphs


def test_lists_in_paragraphs():
    page = paragraphs(["a", "- b", "- c", "d"])
    assert page.count("<ul>") == 1
    assert page.count("<li>") == 2
