"""What the page saves: pictures, pages and numbers, the same as it shows."""
import json
import struct
import xml.etree.ElementTree

from page import ALL_VIEWS, PageTest, fetch, options, read_map, weight

SVG = "{http://www.w3.org/2000/svg}"


class SavingTest(PageTest):
    def test_exports_every_format_of_every_view(self):
        self.write(options.sentence)
        for view in ALL_VIEWS:
            with self.subTest(view):
                self.open_view_to_save(view)
                files = self.save_all()
                drawing = xml.etree.ElementTree.fromstring(files["svg"])
                texts = [text for node in drawing.iter(f"{SVG}text") for text in node.itertext()]
                self.assertTrue(texts)
                self.assertTrue(files["png"].startswith(b"\x89PNG"))
                self.assertIn(b"<svg", files["html"])
                self.assertEqual(options.sentence.encode() in files["html"].split(b"<svg")[0], view != "training")
                saved = json.loads(files["json"])
                self.assertTrue(saved["data"])
                self.assertIn({"model": "head 0", "training": "training"}.get(view, texts[0]), texts)
        self.assertEqual(self.browser.text("#notice"), "")

    def test_a_saved_map_has_the_weights_that_were_sent(self):
        rows = self.write_and_open_a_head()
        files = self.save_all()
        drawing = xml.etree.ElementTree.fromstring(files["svg"])
        cells = [rect for rect in drawing.iter(f"{SVG}rect") if len(rect)]
        self.assertEqual(len(cells), len(rows) * len(rows[0]))
        self.assertEqual(len(list(drawing.iter(f"{SVG}linearGradient"))), 1)  # the scale of the colours
        saved = json.loads(files["json"])["data"]
        self.assertEqual([[struct.unpack("<f", struct.pack("<f", value))[0] for value in row]
                          for row in saved["values"]], [list(row) for row in rows])

    def test_a_saved_comparison_names_both_inputs(self):
        self.open_link(view="compare", source="january", source2="may")
        self.open_view_to_save("compare")
        files = self.save_all()
        saved = json.loads(files["json"])
        self.assertEqual((saved["source"], saved["second"]["source"]), ("january", "may"))
        self.assertTrue(saved["second"]["output"])
        self.assertIn(b">may<", files["html"])

    def test_a_map_along_training_can_be_read_and_saved(self):
        snapshots = json.loads(fetch("/api/snapshots/0"))
        self.browser.click("[role=tab][value=training]")
        self.browser.wait("return document.querySelector('#view .legend:not([hidden])')")
        self.browser.wait("return document.querySelector('.chart text')")
        self.browser.settle()
        self.browser.focus(".matrix")
        self.browser.keys("ArrowDown", "ArrowRight", "ArrowRight", "ArrowDown")
        layer = [layer["name"] for layer in snapshots["layers"] if layer["queries"] != layer["keys"]][-1]
        rows = read_map(fetch(f"/api/snapshots/0/map?step={snapshots['steps'][-1]}&layer={layer}"))
        self.assertEqual(self.browser.text(".readout .value"), weight(rows[1][2]))
        files = self.save_all()
        saved = json.loads(files["json"])["data"]
        self.assertTrue(saved["log"])
        self.assertEqual([len(row) for row in saved["maps"][0]["values"]], [len(row) for row in rows])
        texts = [text for node in xml.etree.ElementTree.fromstring(files["svg"]).iter(f"{SVG}text")
                 for text in node.itertext()]
        self.assertIn("loss", texts)
        self.assertIn(f"{layer}, mean of heads, step {snapshots['steps'][-1]}", texts)

    def test_a_map_along_training_is_saved_without_a_log(self):
        self.browser.run("""
            const fetched = window.fetch;
            window.fetch = (address, given) =>
              String(address).includes('/training/') ? Promise.resolve(new Response('{"next": 0, "lines": []}'))
                                                     : fetched(address, given);""")
        self.browser.click("[role=tab][value=training]")
        self.browser.wait("return document.querySelector('#view .legend:not([hidden])')")
        saved = json.loads(self.save_all()["json"])["data"]
        self.assertEqual((saved["log"], len(saved["maps"])), ([], 1))
