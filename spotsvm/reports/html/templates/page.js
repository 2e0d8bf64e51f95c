"use strict";
/* Adds to a page that is complete without it: values on pointing, the same trial marked in all pictures and tables, tables that
   are sorted and filtered, pictures that are enlarged. All text goes in as text, never as markup. */
(function () {
  const all = (selector, within) => Array.from((within || document).querySelectorAll(selector));
  const make = (tag, className, text) => {
    const made = document.createElement(tag);
    if (className) made.className = className;
    if (text !== undefined) made.textContent = text;
    return made;
  };
  const number = (text) => (/^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i.test(text.trim()) ? Number(text) : NaN);

  /* which elements show a trial, and what is told about it */
  const shown = new Map(), told = new Map();
  for (const element of all("[data-trial]")) {
    const trial = element.dataset.trial;
    if (!shown.has(trial)) shown.set(trial, []);
    shown.get(trial).push(element);
  }
  const tables = all("table.trials");
  const heads = (table) => all("thead th", table).map((th) => (th.firstElementChild || th).textContent);
  for (const table of tables) {
    const names = heads(table);
    for (const row of all("tbody tr", table)) {
      if (told.has(row.dataset.trial)) continue;
      const lines = Array.from(row.cells, (cell, k) => names[k] + ": " + cell.textContent);
      told.set(row.dataset.trial, lines.filter((line) => !line.endsWith(": \u2013")).join("\n"));
    }
  }

  const tip = make("div", "tip");
  tip.hidden = true;
  tip.setAttribute("role", "status");
  document.body.append(tip);
  const titles = new WeakMap();
  for (const title of all("svg title")) {
    titles.set(title.parentNode, title.textContent);
    title.parentNode.setAttribute("data-tip", "");
    title.remove();
  }
  let pinned = null, current = null;
  const rings = [];
  const mark = (trial) => {
    if (trial === current) return;
    for (const element of shown.get(current) || []) element.classList.remove("on");
    for (const ring of rings.splice(0)) ring.remove();
    current = trial;
    for (const element of shown.get(trial) || []) {
      element.classList.add("on");
      if (element.tagName !== "use") continue;
      const ring = document.createElementNS(element.namespaceURI, "circle");
      for (const [name, from] of [["cx", "x"], ["cy", "y"]]) ring.setAttribute(name, element.getAttribute(from));
      ring.setAttribute("r", "6");
      ring.setAttribute("class", "ring");
      element.parentNode.append(ring);
      rings.push(ring);
    }
  };
  const say = (text, x, y) => {
    tip.textContent = text;
    tip.hidden = !text;
    if (!text) return;
    const box = tip.getBoundingClientRect();
    tip.style.left = Math.max(4, Math.min(x + 14, innerWidth - box.width - 4)) + "px";
    tip.style.top = (y + 18 + box.height < innerHeight ? y + 18 : Math.max(4, y - box.height - 10)) + "px";
  };
  const target = (event) => event.target.closest && event.target.closest("[data-trial], [data-tip]");
  document.addEventListener("pointerover", (event) => {
    const found = target(event);
    const trial = found && found.dataset.trial;
    mark(trial === undefined || trial === null ? pinned : trial);
    const words = !found || found.closest("table") ? "" : titles.get(found) || told.get(trial) || "trial " + trial;
    say(words, event.clientX, event.clientY);
  });
  document.addEventListener("click", (event) => {
    if (event.target.closest("button, a, input")) return;
    const found = target(event);
    if (!found || found.dataset.trial === undefined) return;
    pinned = pinned === found.dataset.trial ? null : found.dataset.trial;
    mark(pinned);
  });
  document.addEventListener("keydown", (event) => {
    const row = event.target.closest && event.target.closest("tr[data-trial]");
    if (event.key === "Enter" && row) row.click();
    const step = { ArrowDown: "nextElementSibling", ArrowUp: "previousElementSibling" }[event.key];
    if (step && row && event.target === row) {
      let other = row[step];
      while (other && other.hidden) other = other[step];
      if (!other) return;
      event.preventDefault();
      row.tabIndex = -1;
      other.tabIndex = 0;
      other.focus();
      mark(other.dataset.trial);
    }
    if (event.key === "Escape") { pinned = null; mark(null); say("", 0, 0); }
  });
  addEventListener("scroll", () => say("", 0, 0), { passive: true });

  /* sorting: a button in each heading */
  const sortBy = (table, k, down) => {
    const value = (row) => row.cells[k].textContent;
    const rows = all("tbody tr", table);
    const missing = (text) => text === "\u2013" || text === "";
    rows.sort((a, b) => {
      const one = value(a), other = value(b);
      if (missing(one) || missing(other)) return missing(one) - missing(other);
      const x = number(one), y = number(other);
      const order = isNaN(x) || isNaN(y) ? one.localeCompare(other) : x - y;
      return down ? -order : order;
    });
    table.tBodies[0].append(...rows);
    all("thead th", table).forEach((th, j) => {
      if (j === k) th.setAttribute("aria-sort", down ? "descending" : "ascending");
      else th.removeAttribute("aria-sort");
    });
  };

  /* filtering: words, and comparisons such as C > 10, all of which have to hold */
  const test = (text, names) => {
    const terms = text.split(",").map((term) => term.trim()).filter(Boolean);
    return (row) => terms.every((term) => {
      const parts = term.match(/^(.*?)\s*(<=|>=|!=|<|>|=)\s*(.*)$/);
      const k = parts ? names.findIndex((name) => name.toLowerCase() === parts[1].toLowerCase()) : -1;
      if (k < 0) return row.textContent.toLowerCase().includes(term.toLowerCase());
      const cell = row.cells[k].textContent, x = number(cell), y = number(parts[3]);
      const order = isNaN(x) || isNaN(y) ? (cell === parts[3] ? 0 : NaN) : x - y;
      return { "<": order < 0, ">": order > 0, "<=": order <= 0, ">=": order >= 0, "=": order === 0, "!=": order !== 0 }[parts[2]];
    });
  };
  const filtered = new Map();
  const fade = () => {
    for (const [trial, elements] of shown) {
      const off = Array.from(filtered.values()).some((kept) => kept.has(trial) && !kept.get(trial));
      for (const element of elements) if (element.closest("svg")) element.classList.toggle("off", off);
    }
  };
  for (const table of tables) {
    const names = heads(table);
    all("thead th", table).forEach((th, k) => {
      const button = make("button", "sorts", th.textContent);
      button.type = "button";
      button.addEventListener("click", () => sortBy(table, k, th.getAttribute("aria-sort") === "ascending"));
      th.replaceChildren(button);
    });
    const rows = all("tbody tr", table);
    /* one row can be reached by Tab, and the others from it by the arrow keys */
    for (const row of rows) row.tabIndex = row === rows[0] ? 0 : -1;
    if (rows.length < 4) continue;
    const box = make("label", "filter", "Filter ");
    const input = make("input");
    input.type = "search";
    input.placeholder = "a word, or " + (names[2] || names[0]) + " > 0.5, ...";
    const count = make("output");
    box.append(input, count);
    table.closest(".scroll").before(box);
    input.addEventListener("input", () => {
      const holds = test(input.value, names), kept = new Map();
      for (const row of rows) {
        const keep = holds(row);
        row.hidden = !keep;
        kept.set(row.dataset.trial, keep);
      }
      const left = rows.filter((row) => !row.hidden).length;
      count.textContent = input.value.trim() ? left + " of " + rows.length + " rows" : "";
      if (input.value.trim()) filtered.set(table, kept);
      else filtered.delete(table);
      fade();
    });
  }

  /* enlarging: a button a panel, and a frame drawn with the pointer */
  for (const svg of all("figure.zoomable svg")) {
    const box = svg.closest(".scroll"), whole = svg.getAttribute("viewBox");
    const tools = make("div", "tools"), larger = make("button", "", "Enlarge"), reset = make("button", "", "Whole picture");
    larger.type = reset.type = "button";
    reset.hidden = true;
    tools.append(larger, reset);
    box.prepend(tools);
    larger.addEventListener("click", () => { larger.textContent = box.classList.toggle("large") ? "Reduce" : "Enlarge"; });
    const back = () => { svg.setAttribute("viewBox", whole); reset.hidden = true; };
    reset.addEventListener("click", back);
    svg.addEventListener("dblclick", back);
    let start = null, frame = null;
    svg.addEventListener("pointerdown", (event) => {
      if (event.pointerType !== "mouse" || event.button !== 0) return;
      event.preventDefault();
      start = event;
    });
    addEventListener("pointermove", (event) => {
      if (!start) return;
      if (!frame) { frame = make("div", "frame"); document.body.append(frame); }
      const [x, y] = [Math.min(start.pageX, event.pageX), Math.min(start.pageY, event.pageY)];
      Object.assign(frame.style, { left: x + "px", top: y + "px" });
      frame.style.width = Math.abs(start.pageX - event.pageX) + "px";
      frame.style.height = Math.abs(start.pageY - event.pageY) + "px";
    });
    addEventListener("pointerup", (event) => {
      if (!start) return;
      const matrix = svg.getScreenCTM().inverse();
      const [a, b] = [start, event].map((one) => new DOMPoint(one.clientX, one.clientY).matrixTransform(matrix));
      if (frame) frame.remove();
      start = frame = null;
      const [w, h] = [Math.abs(a.x - b.x), Math.abs(a.y - b.y)];
      if (w < 8 || h < 8) return;
      svg.setAttribute("viewBox", [Math.min(a.x, b.x), Math.min(a.y, b.y), w, h].join(" "));
      reset.hidden = false;
    });
  }

  /* a word where there is more to scroll to */
  const hints = new Map();
  const hint = () => {
    for (const box of all(".scroll")) {
      const wide = box.scrollWidth > box.clientWidth + 4, tall = box.scrollHeight > box.clientHeight + 4;
      if ((wide || tall) && !hints.has(box)) {
        hints.set(box, make("p", "more"));
        box.after(hints.get(box));
      }
      if (!hints.has(box)) continue;
      const where = [tall ? "\u2195 scroll down for all rows" : "", wide ? "\u2194 scroll sideways for all columns" : ""];
      hints.get(box).textContent = where.filter(Boolean).join("   ");
      hints.get(box).hidden = !(wide || tall);
    }
  };
  hint();
  addEventListener("resize", hint);
  for (const folded of all("details")) folded.addEventListener("toggle", hint);

  /* a page that is written anew while a study runs loads itself again, and keeps its place: the section, what is open, the filter */
  const seconds = Number(document.body.dataset.reload), kept = history.state && history.state.place;
  const headings = () => all("main > section > h2");
  const input = document.querySelector("input[type=search]");
  const place = () => {
    const above = headings().filter((one) => one.getBoundingClientRect().top <= 60).pop();
    return {
      heading: above ? above.id : "",
      y: above ? -above.getBoundingClientRect().top : scrollY,
      open: all("details[open] > summary").map((one) => one.textContent.replace(/\d+/g, "#")),
      filter: input ? input.value : "",
    };
  };
  if (kept) {
    history.scrollRestoration = "manual";
    for (const folded of all("details")) {
      folded.open = kept.open.includes(folded.querySelector("summary").textContent.replace(/\d+/g, "#"));
    }
    if (input && kept.filter) {
      input.value = kept.filter;
      input.dispatchEvent(new Event("input"));
    }
    const at = kept.heading && document.getElementById(kept.heading);
    scrollTo(0, at ? at.getBoundingClientRect().top + scrollY + kept.y : kept.y);
  }
  const again = () => {
    if (input && document.activeElement === input) {
      setTimeout(again, 1000 * seconds);
      return;
    }
    history.replaceState({ place: place() }, "");
    location.reload();  /* once: on a busy machine a second call would begin the loading anew */
  };
  if (seconds > 0) setTimeout(again, 1000 * seconds);
})();
