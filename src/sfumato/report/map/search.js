// Finding a destination by its name: a text field with a list, as the combobox pattern has it.

const MAX_FOUND = 40;

function findPoints(words) {
  const wanted = words.trim().toLowerCase();
  const rank = (point) => {
    const name = points.names[point].toLowerCase(), area = points.areas[point].toLowerCase();
    if (name.startsWith(wanted)) return name === wanted ? 0 : 1;
    if (area.startsWith(wanted)) return 2;
    return name.includes(wanted) || area.includes(wanted) ? 3 : Infinity;
  };
  const found = Array.from(shownFlows().destinations, (point) => ({ point, place: rank(point), size: sizeOf(point) }));
  return found.filter(({ place }) => place < Infinity)
    .sort((one, other) => one.place - other.place || other.size - one.size || one.point - other.point);
}

function listenToSearch() {
  const field = element("search"), list = element("found"), note = element("found-note");
  let active = -1;

  const show = (isOpen) => {
    list.hidden = !isOpen;
    active = -1;
    field.setAttribute("aria-expanded", isOpen);
    field.removeAttribute("aria-activedescendant");
  };
  const close = () => show(false);

  const open = () => {
    const found = findPoints(field.value);
    list.replaceChildren(...found.slice(0, MAX_FOUND).map(({ point, size }, i) =>
      make("li", { role: "option", id: `found-${i}`, "data-id": points.names[point], "aria-selected": "false" },
        make("span", {}, ...nameOf(point)), make("b", {}, whole.format(size)))));
    if (!found.length) list.append(make("li", { class: "none" }, "No destination of this name"));
    show(true);
    note.textContent = `${whole.format(found.length)} found`;
  };

  const options = () => [...list.querySelectorAll("[role=option]")];
  const activate = (next) => {
    const all = options();
    if (!all.length) return;
    all[active]?.setAttribute("aria-selected", "false");
    active = (next + all.length) % all.length;
    all[active].setAttribute("aria-selected", "true");
    all[active].scrollIntoView({ block: "nearest" });
    field.setAttribute("aria-activedescendant", all[active].id);
  };

  const take = (option) => {
    if (!option) return;
    close();
    field.value = "";
    const point = points.number.get(option.dataset.id);
    choose(point);
    bringIntoView(point);
  };

  const keys = {
    ArrowDown: () => (list.hidden ? open() : activate(active + 1)),
    ArrowUp: () => (list.hidden ? open() : activate(active < 0 ? -1 : active - 1)),
    Enter: () => (list.hidden ? open() : take(options()[Math.max(active, 0)])),
    Escape: close,
  };
  field.addEventListener("input", open);
  field.addEventListener("focus", () => field.value && open());
  field.addEventListener("click", open);
  field.addEventListener("blur", close);
  field.addEventListener("keydown", (event) => {
    // The first Escape closes the list; only the next one clears the choice.
    if (!keys[event.key] || (event.key === "Escape" && list.hidden)) return;
    event.stopPropagation();
    event.preventDefault();
    keys[event.key]();
  });
  // The field keeps the focus, so that its list is still there when the button is let go.
  list.addEventListener("mousedown", (event) => event.preventDefault());
  list.addEventListener("click", (event) => take(event.target.closest("[role=option]")));
}
