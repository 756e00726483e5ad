// Looking: side by side, slider, flicker, difference; zoom and pan, the same in both pictures ------------------------

const frames = by("frames"), slide = by("slide");
const SIDES = { original: "before", edited: "after" };
const PACE = 650;                       // milliseconds of one picture in flicker
const NEAREST = 12, STEP = 1.3;
const lens = { scale: 1, x: 0, y: 0 };  // shift in shares of the frame, so that it survives a resize
let view = "both", flicker = 0;

const figureOf = (side) => frames.querySelector(`figure[data-side="${side}"]`);
const imageOf = (side) => figureOf(side).querySelector("img");
const addressOf = (item, side) => `/image/${item.key}/${side}`;

function showPictures(item) {
  for (const side of Object.keys(SIDES)) {
    const image = imageOf(side), caption = figureOf(side).querySelector("figcaption");
    image.classList.add("loading");
    caption.textContent = SIDES[side];
    image.onload = () => {
      image.classList.remove("loading");
      caption.textContent = `${SIDES[side]} · ${image.naturalWidth} × ${image.naturalHeight}`;
      caption.classList.toggle("warn", shapesDiffer());
      place();
    };
    image.onerror = () => { caption.textContent = `${SIDES[side]}: this picture cannot be shown`; };
    image.src = addressOf(item, side);
  }
  fit();
}

function shapesDiffer() {
  const [one, other] = Object.keys(SIDES).map(imageOf);
  const shape = (image) => image.naturalWidth / image.naturalHeight;
  return one.naturalWidth > 0 && other.naturalWidth > 0 && Math.abs(shape(one) - shape(other)) > 0.01;
}

function preload(item) {
  for (const side of Object.keys(SIDES)) new Image().src = addressOf(item, side);
}

// Views ----------------------------------------------------------------------------------------------------------------

function look(name) {
  view = name;
  frames.dataset.view = name;
  for (const button of document.querySelectorAll("[data-view]")) {
    if (button !== frames) button.setAttribute("aria-pressed", String(button.dataset.view === name));
  }
  clearInterval(flicker);
  swap(false);
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  if (name === "flicker" && !still) flicker = setInterval(() => swap(!frames.classList.contains("swapped")), PACE);
  slide.hidden = name !== "slider";
}

function swap(on) {  // what lies on top shows the other picture
  frames.classList.toggle("swapped", on);
}

function slideTo(percent) {
  slide.value = percent;
  frames.style.setProperty("--cut", `${percent}%`);
}

// Zoom -----------------------------------------------------------------------------------------------------------------

function place() {
  const most = (lens.scale - 1) / 2;  // the picture always covers its frame
  lens.x = Math.max(-most, Math.min(most, lens.x));
  lens.y = Math.max(-most, Math.min(most, lens.y));
  frames.classList.toggle("zoomed", lens.scale > 1);
  by("zoom").textContent = `${Math.round(lens.scale * 100)} %`;
  for (const image of frames.querySelectorAll("img")) {
    image.style.transform = `translate(${lens.x * 100}%, ${lens.y * 100}%) scale(${lens.scale})`;
    const shown = Math.min(image.clientWidth / image.naturalWidth, image.clientHeight / image.naturalHeight) * lens.scale;
    image.classList.toggle("crisp", shown * devicePixelRatio >= 3);
  }
}

function zoomBy(factor, x = 0, y = 0) {  // around a point, in shares of the frame from its middle
  const scale = Math.max(1, Math.min(NEAREST, lens.scale * factor));
  lens.x = x - (x - lens.x) * (scale / lens.scale);
  lens.y = y - (y - lens.y) * (scale / lens.scale);
  lens.scale = scale;
  place();
}

function fit() {
  Object.assign(lens, { scale: 1, x: 0, y: 0 });
  place();
}

function pan(x, y) {
  lens.x += x;
  lens.y += y;
  place();
}

function pointIn(event) {
  const box = event.target.closest(".frame").getBoundingClientRect();
  return [(event.clientX - box.left) / box.width - 0.5, (event.clientY - box.top) / box.height - 0.5, box];
}

const touching = new Map();  // pointer -> where it was
function spread() {
  const [one, other] = [...touching.values()];
  return Math.hypot(one.x - other.x, one.y - other.y);
}

for (const frame of frames.querySelectorAll(".frame")) {
  frame.addEventListener("wheel", (event) => {
    event.preventDefault();
    const [x, y] = pointIn(event);
    zoomBy(STEP ** (-event.deltaY / 100), x, y);
  }, { passive: false });
  frame.addEventListener("dblclick", (event) => {
    const [x, y] = pointIn(event);
    if (lens.scale > 1) fit();
    else zoomBy(3, x, y);
  });
  frame.addEventListener("pointerdown", (event) => {
    frame.setPointerCapture(event.pointerId);
    touching.set(event.pointerId, { x: event.clientX, y: event.clientY });
  });
  frame.addEventListener("pointermove", (event) => {
    const before = touching.get(event.pointerId);
    if (!before) return;
    const far = touching.size === 2 ? spread() : 0;
    touching.set(event.pointerId, { x: event.clientX, y: event.clientY });
    const [x, y, box] = pointIn(event);
    if (touching.size === 2) zoomBy(spread() / far, x, y);
    else if (lens.scale > 1) pan((event.clientX - before.x) / box.width, (event.clientY - before.y) / box.height);
  });
  for (const end of ["pointerup", "pointercancel"]) frame.addEventListener(end, (event) => touching.delete(event.pointerId));
}

slide.addEventListener("input", () => slideTo(slide.value));
window.addEventListener("resize", place);
for (const button of document.querySelectorAll("button[data-view]")) button.addEventListener("click", () => look(button.dataset.view));
by("zoom-in").addEventListener("click", () => zoomBy(STEP));
by("zoom-out").addEventListener("click", () => zoomBy(1 / STEP));
by("zoom-fit").addEventListener("click", fit);
