"use strict";
// What our pages share: making elements, lists of facts, sharp pixels, light and dark.
const by = (id) => document.getElementById(id);

function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

function sharpen(event) {
  const image = event.target;  // hard pixels when enlarged; when reduced they would alias
  image.classList.toggle("crisp", image.clientWidth * devicePixelRatio >= image.naturalWidth);
}

function section(title, ...content) {
  return content.some((part) => part) ? [make("h2", {}, title), ...content] : [];
}

function facts(pairs) {
  const list = make("dl");
  for (const [name, value] of pairs) {
    if (value !== null && value !== undefined && value !== "") list.append(make("dt", {}, name), make("dd", {}, String(value)));
  }
  return list;
}

function toggleTheme() {
  const root = document.documentElement;
  root.dataset.theme = root.dataset.theme === "dark" ? "light" : "dark";
}

function followScheme() {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const follow = () => { document.documentElement.dataset.theme = dark.matches ? "dark" : "light"; };
  dark.addEventListener("change", follow);
  follow();
}

