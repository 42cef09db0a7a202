// A swapped answer keeps open what the reader has opened.
"use strict";

(() => {
  let open = [];
  document.addEventListener("htmx:beforeSwap", (event) => {
    open = [...event.detail.target.querySelectorAll("details[open][data-keep]")].map(
      (element) => element.dataset.keep,
    );
  });
  document.addEventListener("htmx:afterSwap", (event) => {
    for (const element of event.detail.target.querySelectorAll("details[data-keep]")) {
      if (open.includes(element.dataset.keep)) element.open = true;
    }
  });
})();
