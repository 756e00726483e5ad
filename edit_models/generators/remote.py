"""Generators behind an OpenAI-compatible server: `images/generations`, and chat models that answer with a picture."""

from __future__ import annotations

from PIL import Image

from edit_models.editors.remote import ChatEditor, ServerModel


class ImagesGenerator(ServerModel):
    """`POST images/generations`."""

    def generate(self, description: str, *, seed: int) -> Image.Image:
        return self.picture_of(self.server.post("images/generations", json=self.request(seed, prompt=description)))


class ChatGenerator(ChatEditor):
    """`POST chat/completions` with a model that draws."""

    def generate(self, description: str, *, seed: int) -> Image.Image:
        return self.ask([{"type": "text", "text": description}], seed=seed).image
