"use strict";
async function unpack(element) {
  const bytes = Uint8Array.from(atob(element.textContent), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).blob();
}
for (const button of document.querySelectorAll("button[data-from]")) {
  button.addEventListener("click", async () => {
    const said = document.getElementById("data-said");
    try {
      const blob = await unpack(document.getElementById(button.dataset.from));
      const link = document.createElement("a");
      link.href = URL.createObjectURL(new Blob([blob], { type: button.dataset.type }));
      link.download = button.dataset.name;
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 10000);
      said.textContent = blob.size + " bytes";
    } catch (error) {
      said.textContent = "This browser cannot unpack the data: " + error.message;
    }
  });
}
// Opened with #check, the page proves to a test that its data can be unpacked.
if (location.hash === "#check") {
  Promise.all([...document.querySelectorAll("script[id^=data-]")].map(unpack)).then((all) => {
    if (all.every((blob) => blob.size > 0)) document.documentElement.dataset.unpacked = "yes";
  });
}
