// A swapped answer keeps open what the reader has opened; a choice fills its field.
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

  document.addEventListener("click", (event) => {
    const choice = event.target.closest("button[data-fill]");
    const field = choice && document.getElementById(choice.dataset.fill);
    if (!field) return;
    field.value = choice.value;
    field.focus(); // the choices go away, the keyboard stays in the form
    field.dispatchEvent(new Event("input", { bubbles: true }));
  });
})();
