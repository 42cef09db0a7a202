// Draws the figures of the page with Plotly, in the colours of the page's CSS variables.
// A figure names a role for each trace; the colour of a role depends on the theme.
"use strict";

(() => {
  const STATES = {
    r: "--requested",
    p: "--this-plan",
    f: "--free",
    s: "--stranded",
    u: "--unschedulable",
    x: "--line-strong",
  };

  // light-dark() is resolved only where it is used, so a probe tells the colour of a variable.
  const probe = document.createElement("span");
  probe.hidden = true;
  document.body.append(probe);
  const colour = (variable) => {
    probe.style.setProperty("color", `var(${variable})`);
    return getComputedStyle(probe).color;
  };

  const paint = (trace) => {
    const role = trace.meta?.role ?? "";
    const marker = { ...trace.marker, color: colour(STATES[role] ?? `--${role}`) };
    if (role === "u") {
      marker.pattern = { shape: "/", fgcolor: colour("--unschedulable"), bgcolor: colour("--panel"), size: 5, solidity: 0.5, fillmode: "replace" };
    }
    return { ...trace, marker };
  };

  const dress = (layout) => {
    const grid = { gridcolor: colour("--line"), zerolinecolor: colour("--line-strong"), linecolor: colour("--line-strong"), fixedrange: true };
    return {
      ...layout,
      paper_bgcolor: "rgba(0,0,0,0)",
      plot_bgcolor: "rgba(0,0,0,0)",
      font: { family: getComputedStyle(document.body).fontFamily, size: 12.5, color: colour("--ink-2") },
      xaxis: { ...layout.xaxis, ...grid, title: { ...layout.xaxis.title, font: { size: 12.5 } } },
      yaxis: { ...layout.yaxis, ...grid },
      hoverlabel: { ...layout.hoverlabel, bgcolor: colour("--panel"), bordercolor: colour("--line-strong"), font: { color: colour("--ink") } },
    };
  };

  const draw = (place) => {
    const source = document.getElementById(place.dataset.chart);
    if (!source) return;
    const figure = JSON.parse(source.textContent);
    Plotly.react(place, figure.data.map(paint), dress(figure.layout), { displaylogo: false, displayModeBar: false, responsive: true });
  };

  const drawAll = (root) => {
    for (const place of root.querySelectorAll("[data-chart]")) draw(place);
  };

  drawAll(document);
  document.addEventListener("htmx:load", (event) => drawAll(event.target));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => drawAll(document));
  new MutationObserver(() => drawAll(document)).observe(document.documentElement, { attributeFilter: ["data-theme"] });
})();
