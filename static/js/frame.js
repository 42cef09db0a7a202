// The frame: search by keyboard, menus that close, copy buttons, errors of fragments said aloud.
// Everything here adds to pages that work without it.
"use strict";

(() => {
  const searchText = document.getElementById("search-text");
  const searchResults = document.getElementById("search-results");
  const announcer = document.getElementById("announcer");

  const isTyping = (element) =>
    element instanceof HTMLElement &&
    (element.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(element.tagName));

  const closeMenus = (except) => {
    for (const menu of document.querySelectorAll("details.menu[open]")) {
      if (menu !== except) menu.open = false;
    }
  };

  const resultLinks = () => [...(searchResults?.querySelectorAll("a") ?? [])];

  // Enter opens the first result only when the results are those of the text as it stands.
  let searchIsStale = false;
  searchText?.addEventListener("input", () => { searchIsStale = true; });
  searchResults?.addEventListener("htmx:afterSwap", () => { searchIsStale = false; });

  const moveInResults = (step) => {
    const stops = [searchText, ...resultLinks()];
    const at = stops.indexOf(document.activeElement);
    if (at < 0 || stops.length < 2) return false;
    stops[(at + step + stops.length) % stops.length].focus();
    return true;
  };

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const inSearch = searchText && event.target.closest?.(".search");
    if (event.key === "/" && searchText && !isTyping(event.target)) {
      searchText.focus();
      searchText.select();
      event.preventDefault();
    } else if (inSearch && (event.key === "ArrowDown" || event.key === "ArrowUp")) {
      if (moveInResults(event.key === "ArrowDown" ? 1 : -1)) event.preventDefault();
    } else if (inSearch && event.key === "Enter" && event.target === searchText) {
      const [first] = resultLinks();
      if (first && !searchIsStale) {
        event.preventDefault();
        first.click();
      }
    } else if (event.key === "Escape") {
      if (inSearch) {
        searchResults.replaceChildren();
        if (event.target === searchText) searchText.blur();
        else searchText.focus();
      }
      const open = document.querySelector("details.menu[open]");
      closeMenus(null);
      if (open?.contains(document.activeElement)) open.querySelector("summary").focus();
    }
  });

  document.addEventListener("click", (event) => {
    closeMenus(event.target.closest("details.menu"));
    const button = event.target.closest("[data-copy]");
    if (button) copy(button);
  });

  const copy = async (button) => {
    const text = button.parentElement.querySelector("code").textContent;
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      // No clipboard on plain HTTP: select the text, so that Ctrl-C does it.
      getSelection().selectAllChildren(button.parentElement.querySelector("code"));
      return;
    }
    const words = button.textContent;
    button.textContent = button.dataset.copied;
    setTimeout(() => { button.textContent = words; }, 1500);
  };

  const showCopyButtons = (root) => {
    for (const button of root.querySelectorAll("[data-copy][hidden]")) button.hidden = false;
  };
  showCopyButtons(document);
  document.addEventListener("htmx:load", (event) => showCopyButtons(event.target));

  const say = (words) => { if (announcer) announcer.textContent = words; };
  for (const name of ["htmx:responseError", "htmx:sendError", "htmx:timeout"]) {
    document.addEventListener(name, () => say(document.body.dataset.noAnswer));
  }
  document.addEventListener("htmx:afterRequest", (event) => {
    if (event.detail.successful) say("");
  });
})();
