"use strict";
(() => {
  const SVG = "http://www.w3.org/2000/svg";
  const of = (id) => document.getElementById(id);
  const data = JSON.parse(of("games").textContent);
  const { board, samples } = data;
  const viewer = of("viewer");
  if (!viewer || !samples.length) return;

  const stage = of("stage");
  const range = of("at");
  let game = samples[0];
  let step = 0;
  let timer = 0;

  const make = (name, attributes, text) => {
    const node = document.createElementNS(SVG, name);
    for (const key in attributes) node.setAttribute(key, attributes[key]);
    if (text !== undefined) node.textContent = text;
    return node;
  };
  const write = (name, text, of_class) => {
    const node = document.createElement(name);
    node.textContent = text;
    if (of_class) node.className = of_class;
    return node;
  };

  // The position after so many plies, and what the last of them changed.
  const position = (upto) => {
    const now = game.start.slice();
    let before = now.slice();
    let changed = [];
    for (let k = 0; k < upto; k++) {
      const ply = game.steps[k];
      if (k === upto - 1) before = now.slice();
      changed = [];
      for (let i = 3; i < ply.length; i += 2) {
        if (ply[i + 1] === null) now.length = ply[i];
        else now[ply[i]] = ply[i + 1];
        changed.push(ply[i]);
      }
    }
    return { now, before, changed };
  };

  const seats = () => game.seats.length;

  const draw = { pieces: drawPieces, pits: drawPits, text: drawText }[board.kind];
  let canvas = null;
  let moving = null;
  if (board.kind === "text") {
    canvas = document.createElement("pre");
    stage.append(canvas);
  } else {
    canvas = make("svg", { viewBox: `0 0 ${board.width} ${board.height}`, role: "img", "aria-labelledby": "seen" });
    const art = make("g", {});
    // Made by the program itself, of numbers and words of its own.
    art.innerHTML = board.art;
    moving = make("g", {});
    canvas.append(art, moving);
    stage.append(canvas);
  }

  function drawPieces({ now, before, changed }) {
    const nodes = [];
    const at = (index, value) => board.spots[Math.floor(index / board.pieces)][value - board.least];
    const groups = new Map();
    now.forEach((value, index) => {
      const spot = at(index, value);
      const key = spot.join();
      if (!groups.has(key)) groups.set(key, { spot, on: [] });
      groups.get(key).on.push(index);
    });
    for (const index of changed) {
      const [x, y] = at(index, before[index]);
      nodes.push(make("circle", { class: "was", cx: x, cy: y, r: board.spot * 0.3 }));
    }
    for (const { spot, on } of groups.values()) {
      const side = Math.ceil(Math.sqrt(on.length));
      const room = (board.spot * (on.length > 1 ? 1.12 : 0.86)) / side;
      on.forEach((index, place) => {
        const rows = Math.ceil(on.length / side);
        const x = spot[0] + ((place % side) - (side - 1) / 2) * room;
        const y = spot[1] + (Math.floor(place / side) - (rows - 1) / 2) * room;
        const seat = Math.floor(index / board.pieces);
        const r = Math.max(room * 0.46, board.spot * 0.16);
        nodes.push(make("circle", { class: `piece p${seat}`, cx: x, cy: y, r }));
        nodes.push(make("text", { class: "no", x, y: y + r * 0.06, "font-size": r * 1.25 }, index % board.pieces));
        if (changed.includes(index)) nodes.push(make("circle", { class: "halo", cx: x, cy: y, r: r + 2.5 }));
      });
    }
    moving.replaceChildren(...nodes);
    for (const text of moving.querySelectorAll(".no")) text.style.fontSize = `${text.getAttribute("font-size")}px`;
    const words = new Map(board.words);
    return game.seats
      .map((name, seat) => {
        const own = now.slice(seat * board.pieces, (seat + 1) * board.pieces);
        return `${name}: pieces at ${own.map((value) => words.get(value) ?? value).join(", ")}`;
      })
      .join("; ");
  }

  function drawPits({ now, changed }) {
    const nodes = [];
    board.pits.forEach(([x, y, rx, ry], pit) => {
      const mark = changed.includes(pit) ? "pit now" : "pit";
      nodes.push(make("rect", { class: mark, x: x - rx, y: y - ry, width: 2 * rx, height: 2 * ry, rx: Math.min(rx, ry) }));
      const count = now[pit];
      for (let seed = 0; seed < count; seed++) {
        const turn = 2.2 + seed * 2.399963;
        const out = Math.sqrt((seed + 0.5) / Math.max(count, 6)) * 0.78;
        nodes.push(make("circle", { class: "seed", cx: x + Math.cos(turn) * out * rx, cy: y + Math.sin(turn) * out * ry, r: 3.6 }));
      }
      nodes.push(make("text", { class: "count", x: x + rx * 0.62, y: y - ry + Math.min(rx, ry) * 0.34 }, count));
    });
    moving.replaceChildren(...nodes);
    return board.names.map((name, pit) => `${name}: ${now[pit]}`).join(", ");
  }

  function drawText({ now }) {
    canvas.textContent = now.join("\n");
    return "";
  }

  // What a ply did, by what it changed on the board.
  function inWords([mover, notation], { now, before, changed }) {
    if (board.kind === "text" || mover === null) return "";
    if (!changed.length) return "changes nothing on the board";
    return board.kind === "pits" ? pitsInWords(mover, notation, now, before) : piecesInWords(mover, now, before, changed);
  }

  function pitsInWords(mover, notation, now, before) {
    const pits = (board.pits.length - 2) / 2;
    const from = mover * pits + Number(notation);
    if (!/^\d+$/.test(notation) || !before[from]) return "";
    const seeds = before[from] === 1 ? "1 seed" : `${before[from]} seeds`;
    const banked = game.seats
      .map((name, seat) => [name, now[2 * pits + seat] - before[2 * pits + seat]])
      .filter(([, more]) => more > 0)
      .map(([name, more]) => `${name} banks ${more}`);
    return [`sows ${seeds} from ${board.names[from]}`, ...banked].join("; ");
  }

  function piecesInWords(mover, now, before, changed) {
    const words = new Map(board.words);
    const place = (value) => words.get(value) ?? `square ${value}`;
    const whose = (index) => Math.floor(index / board.pieces);
    const own = changed
      .filter((index) => whose(index) === mover)
      .map((index) => `piece ${index % board.pieces} from ${place(before[index])} to ${place(now[index])}`);
    const others = changed
      .filter((index) => whose(index) !== mover)
      .map((index) => `piece ${index % board.pieces} of ${game.seats[whose(index)]} goes to ${place(now[index])}`);
    return [...(own.length ? [`moves ${own.join(" and ")}`] : []), ...others].join("; ");
  }

  const swatch = (seat) => {
    const svg = make("svg", { class: "swatch", viewBox: "0 0 16 16", "aria-hidden": "true" });
    svg.append(make("circle", { class: `piece p${seat}`, cx: 8, cy: 8, r: 7 }));
    return svg;
  };

  function show() {
    const plies = game.steps.length;
    const seen = draw(position(step));
    const ply = step ? game.steps[step - 1] : null;
    const said = [];
    if (!ply) {
      said.push(write("span", "Before the first ply."));
    } else {
      const who = ply[0] === null ? "no agent" : game.seats[ply[0]];
      const words = inWords(ply, position(step));
      said.push(write("span", `Ply ${step} of ${plies}: `), write("b", who));
      if (ply[2]) said.push(write("span", ` draws ${ply[2]} and`));
      said.push(write("span", words ? ` ${words} (${ply[1]}).` : ` plays ${ply[1]}.`));
    }
    for (const [at, seat, kind] of game.faults) {
      if (at === step || (step === plies && at >= plies)) {
        said.push(write("span", ` Fault of ${game.seats[seat]}: ${kind}.`, "bad"));
      }
    }
    if (step === plies) said.push(write("span", ` The game is over: ${game.termination}.`));
    of("said").replaceChildren(...said);
    of("seen").textContent = seen;
    const next = step < plies ? game.steps[step][0] : null;
    const items = game.seats.map((name, seat) => {
      const item = document.createElement("li");
      if (seat === next) item.className = "turn";
      const side = board.sides ? ` (${board.sides[seat]})` : "";
      item.append(swatch(seat), write("span", name + side));
      item.append(write("span", `${game.placement[seat] ?? "–"}., score ${game.scores[seat] ?? "–"}`, "end"));
      return item;
    });
    of("players").replaceChildren(...items);
    range.value = step;
    range.setAttribute("aria-valuetext", `ply ${step} of ${plies}`);
    of("first").disabled = of("back").disabled = step === 0;
    of("next").disabled = of("last").disabled = step === plies;
  }

  function go(to) {
    step = Math.max(0, Math.min(game.steps.length, to));
    show();
  }

  function stop() {
    clearInterval(timer);
    timer = 0;
    of("play").setAttribute("aria-pressed", "false");
    of("play").textContent = "Play";
  }

  function play() {
    if (timer) return stop();
    if (step === game.steps.length) go(0);
    of("play").setAttribute("aria-pressed", "true");
    of("play").textContent = "Stop";
    timer = setInterval(() => {
      go(step + 1);
      if (step === game.steps.length) stop();
    }, 500);
  }

  function choose(number) {
    stop();
    game = samples[number];
    range.max = game.steps.length;
    of("id").textContent = game.game;
    of("game-seed").textContent = game.seed;
    go(0);
  }

  samples.forEach((sample, number) => {
    const option = write("option", `${sample.why}: ${sample.seats.join(" – ")} (${sample.plies} plies)`);
    option.value = number;
    of("pick").append(option);
  });
  of("pick").addEventListener("change", (event) => choose(Number(event.target.value)));
  range.addEventListener("input", () => { stop(); go(Number(range.value)); });
  const buttons = { first: () => 0, back: () => step - 1, next: () => step + 1, last: () => game.steps.length };
  for (const id in buttons) of(id).addEventListener("click", () => { stop(); go(buttons[id]()); });
  of("play").addEventListener("click", play);
  const keys = { ArrowLeft: "back", ArrowRight: "next", Home: "first", End: "last" };
  viewer.addEventListener("keydown", (event) => {
    if (event.target.matches("select") || event.altKey || event.ctrlKey || event.metaKey) return;
    const button = keys[event.key];
    if (button) {
      stop();
      go(buttons[button]());
    } else if (event.key === " " && event.target === stage) {
      play();
    } else {
      return;
    }
    event.preventDefault();
  });
  viewer.hidden = of("choice").hidden = false;
  choose(0);
})();
