/* SPDX-License-Identifier: Apache-2.0 */
/* The search of the site runs in a worker. Browsers refuse workers for a page that was opened from a file.
   For such a page, this class runs the program of the worker in a hidden frame. */
if (location.protocol === "file:") {
  window.IFrameWorker = class extends EventTarget {
    constructor(url) {
      super();
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      this.ready = new Promise((resolve) => {
        document.body.appendChild(this.frame);
        const inside = this.frame.contentWindow;
        inside.document.open();
        inside.document.write("<!doctype html><body></body>");
        inside.document.close();
        inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
        const script = inside.document.createElement("script");
        script.src = url;
        script.onload = () => resolve(inside);
        inside.document.body.appendChild(script);
      });
    }

    postMessage(data) {
      this.ready.then((inside) => inside.dispatchEvent(new MessageEvent("message", { data })));
    }

    terminate() {
      this.frame.remove();
    }
  };
  window.Worker = window.IFrameWorker;
}
