// Where docs/keep_version.py has put several versions of the site beside each other, the version in the navigation bar
// becomes a list of them. Everything is found by relative addresses, so that it works from a folder as well as a server.
document.addEventListener("DOMContentLoaded", () => {
  const root = document.documentElement.dataset.content_root;
  const list = document.createElement("script");
  list.src = `${root}../versions.js`; // of all versions, newest first; not there where there is one only
  list.onload = () => {
    for (const place of document.querySelectorAll(".site-version")) {
      const choice = document.createElement("select");
      choice.setAttribute("aria-label", "version of this site");
      for (const version of window.FACTORSTREAM_VERSIONS) {
        choice.add(new Option(version, version, false, version === place.dataset.version));
      }
      choice.onchange = () => {
        location.href = `${root}../${choice.value}/index.html`;
      };
      place.replaceChildren(choice);
    }
  };
  document.head.append(list);
});
