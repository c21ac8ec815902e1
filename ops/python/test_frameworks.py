"""Tests of larder beside JAX, Lightning, Ray, joblib and scikit-learn, each where it can be imported, and of their guide.

    python3 -W error -m unittest discover -s ops/python
"""

import importlib.util
import logging
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import warnings

import numpy as np

import make_store
from test_larder import HERE, ROOT, BuildsCase, larder

GUIDE = os.path.join(ROOT, "ops/docs/how-to/FROM-PYTHON.md")
NAMES = ["train-images", "train-labels"]


def needs(*modules):
    missing = [name for name in modules if importlib.util.find_spec(name) is None]
    return unittest.skipIf(missing, "needs " + ", ".join(missing))


class FrameworkCase(BuildsCase):
    """Has 1,000 rows, and no warnings of what frameworks import and do."""

    def setUp(self):
        super().setUp()
        quiet = warnings.catch_warnings()
        quiet.__enter__()
        self.addCleanup(quiet.__exit__, None, None, None)
        warnings.simplefilter("ignore")
        self.images = np.random.default_rng(1).integers(0, 256, (1000, 4), np.uint8)
        self.labels = np.arange(1000) % 3
        self.publish("mnist", {"train-images": self.images, "train-labels": self.labels, "row": np.arange(1000)})

    def folder(self):
        made = tempfile.mkdtemp(prefix="larder-test-")
        self.addCleanup(shutil.rmtree, made, ignore_errors=True)
        return made


def described(array):
    return type(array).__name__, array.filename, int(array.sum())


class JaxTest(FrameworkCase):
    @needs("jax")
    def test_a_device_array_lies_on_the_pages_and_holds_the_lease(self):
        import jax

        folder = self.publish("f", {"x": np.arange(12, dtype="f4").reshape(3, 4)})
        x = larder.open("f/x")
        shared = jax.device_put(x, jax.devices("cpu")[0])
        self.assertEqual(shared.unsafe_buffer_pointer(), x.__array_interface__["data"][0])
        del x
        self.assertTrue(self.is_leased(folder))
        self.assertEqual(float(shared.sum()), 66)

    @needs("jax")
    def test_what_jax_takes_of_a_batch_stays_true(self):
        import jax
        import jax.numpy as jnp

        kept = [(jax.device_put(batch["row"]), jnp.asarray(batch["train-images"]), jax.jit(lambda b: b["train-images"] + 0)(dict(batch)))
                for batch in larder.Loader("mnist", [*NAMES, "row"], batch_size=64, shuffle=1, prefetch=1)]
        for rows, images, computed in kept:
            for taken in images, computed:
                np.testing.assert_array_equal(np.asarray(taken), self.images[np.asarray(rows)])
        self.assertEqual(sorted(np.concatenate([rows for rows, _, _ in kept])), list(range(1000)))


    @needs("jax")
    def test_the_room_has_arrays_on_the_pages_and_refuses_what_jax_does_not_have(self):
        import jax

        folder = self.publish("f", {"x": np.arange(12, dtype="f4").reshape(3, 4), "text": np.array(["a", "b", "c"])})
        x = larder.open("f/x")
        shared = larder.jax.array(x[1:], jax.devices("cpu")[0])
        self.assertEqual((shared.shape, shared.dtype, float(shared.sum())), ((2, 4), np.float32, 60))
        whole = larder.jax.array(x)
        self.assertEqual(whole.unsafe_buffer_pointer(), x.__array_interface__["data"][0])
        del x, shared
        self.assertTrue(self.is_leased(folder))
        for made in lambda: larder.jax.array(larder.open("f/text")), lambda: larder.jax.Loader("f", ["text"], batch_size=1):
            with self.assertRaisesRegex(larder.LarderError, "JAX has no such dtype: dtype=<U1 jax=.*; convert a copy with astype"):
                made()

    @needs("jax")
    def test_batches_of_the_room_are_pytrees_of_the_loaders_arrays(self):
        import jax

        settings = {"batch_size": 64, "shuffle": 1}
        traced = []

        @jax.jit
        def doubled(batch):
            traced.append(batch.number)
            return jax.tree.map(lambda x: x * 2, batch)

        cpu = jax.devices("cpu")[0]
        made = list(larder.jax.Loader("mnist", [*NAMES, "row"], device=cpu, **settings))
        for batch, plain in zip(made, larder.Loader("mnist", [*NAMES, "row"], **settings)):
            self.assertEqual((list(batch), batch.number, batch.valid_size), (list(plain), plain.number, plain.valid_size))
            twice = doubled(batch)
            self.assertEqual((type(twice), twice.number), (larder.Batch, None))
            for name in plain:
                self.assertEqual(batch[name].devices(), {cpu})
                np.testing.assert_array_equal(np.asarray(batch[name]), plain[name])
                np.testing.assert_array_equal(np.asarray(twice[name]), plain[name] * 2)
        self.assertEqual(len(traced), 2)  # whole batches, and the last one

    def test_who_has_no_jax_is_told_what_to_install(self):
        program = "import sys; sys.modules['jax'] = None; import larder; print('fine'); larder.jax"
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, encoding="utf-8",
                              env={**os.environ, "PYTHONPATH": os.environ.get("LARDER_PYTHON", HERE)})
        self.assertEqual(done.stdout, "fine\n")
        self.assertRegex(done.stderr, "ImportError: larder.jax needs JAX: reason=.*; .* -m pip install jax")


class RayTest(FrameworkCase):
    @needs("ray", "pydantic")
    def test_arguments_travel_as_names_and_lie_on_the_same_pages(self):
        with with_ray(self) as ray:
            images = larder.open("mnist/train-images")
            remote = ray.remote(described)
            found = ray.get([remote.remote(images[start:start + 100]) for start in (0, 500)] + [remote.remote(ray.put(images))], timeout=120)
            self.assertEqual(found, [described(part) for part in (images[:100], images[500:600], images)])
            self.assertIs(type(ray.get(ray.put(images))), larder.Array)


class with_ray:
    """A Ray of this test's own, with one worker and nothing outside of a folder."""

    def __init__(self, case):
        self.folder = case.folder()

    def __enter__(self):
        import ray

        with_path = {"env_vars": {"PYTHONPATH": os.pathsep.join([os.environ.get("LARDER_PYTHON", HERE), HERE])}}
        ray.init("local", num_cpus=1, include_dashboard=False, object_store_memory=80 << 20, log_to_driver=False, logging_level=logging.ERROR,
                 _temp_dir=self.folder, runtime_env=with_path)
        return ray

    def __exit__(self, *_):
        sys.modules["ray"].shutdown()


class JoblibTest(FrameworkCase):
    def tearDown(self):
        if "joblib" in sys.modules:
            sys.modules["joblib"].externals.loky.get_reusable_executor().shutdown(wait=True)

    @needs("joblib")
    def test_workers_of_loky_get_names_of_any_part(self):
        from joblib import Parallel, delayed

        images = larder.open("mnist/train-images")
        parts = images, images[10:500:7], images[:, 2], images.T
        self.assertEqual(Parallel(n_jobs=2)(delayed(described)(part) for part in parts), [*map(described, parts)])

    @needs("sklearn")
    def test_estimators_fit_stored_arrays_and_search_in_processes(self):
        from sklearn.ensemble import RandomForestClassifier
        from sklearn.linear_model import LogisticRegression
        from sklearn.model_selection import GridSearchCV
        from sklearn.neighbors import KNeighborsClassifier

        numbers = self.publish("numbers", {"x": self.images / 255, "y": (self.images[:, 0] > 99).astype(np.int64)})
        opened = larder.dataset("numbers")
        for estimator in LogisticRegression(), RandomForestClassifier(5, n_jobs=2, random_state=1), KNeighborsClassifier():
            self.assertGreater(estimator.fit(opened["x"], opened["y"]).score(opened["x"], opened["y"]), 0.9)
        search = GridSearchCV(LogisticRegression(), {"C": [0.1, 10]}, n_jobs=2, cv=2).fit(opened["x"], opened["y"])
        self.assertGreater(search.best_score_, 0.9)
        self.assertTrue(self.is_leased(numbers))


class LightningTest(FrameworkCase):
    def setUp(self):
        super().setUp()
        if not importlib.util.find_spec("lightning"):
            self.skipTest("needs lightning")
        import lightning
        import torch

        logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
        self.lightning = lightning

        class Model(lightning.LightningModule):
            def __init__(self):
                super().__init__()
                self.layer, self.seen = torch.nn.Linear(4, 1), []

            def training_step(self, batch, _):
                images, rows = (batch["train-images"], batch["row"]) if isinstance(batch, dict) else batch
                self.seen.append(rows.tolist())
                return self.layer(images / 255).mean()

            def configure_optimizers(self):
                return torch.optim.SGD(self.parameters(), 0.1)

        class Data(lightning.LightningDataModule):
            def train_dataloader(self):
                return larder.torch.Loader("mnist", ["train-images", "row"], batch_size=250, shuffle=42,
                                           shard=(self.trainer.global_rank, self.trainer.world_size))

        self.model, self.data = Model, Data

    def trainer(self, **settings):
        return self.lightning.Trainer(accelerator="cpu", devices=1, logger=False, enable_progress_bar=False, enable_model_summary=False,
                                      **{"enable_checkpointing": False, **settings})

    def test_each_epoch_is_the_next_one_of_the_loader(self):
        model = self.model()
        self.trainer(max_epochs=2).fit(model, self.data())

        loader = larder.Loader("mnist", ["row"], batch_size=250, shuffle=42)
        expected = [batch["row"].tolist() for epoch in (0, 1) for batch in loader.epoch(epoch)]
        self.assertEqual(model.seen, expected)

    def test_a_checkpoint_in_the_middle_of_an_epoch_goes_on_with_the_next_batch(self):
        whole, first, rest = self.model(), self.model(), self.model()
        self.trainer(max_epochs=3).fit(whole, self.data())
        folder = self.folder()
        saves = self.lightning.pytorch.callbacks.ModelCheckpoint(folder, "six", every_n_train_steps=6, save_top_k=-1)
        self.trainer(max_steps=7, enable_checkpointing=True, callbacks=[saves]).fit(first, self.data())
        self.trainer(max_epochs=3).fit(rest, self.data(), ckpt_path=os.path.join(folder, "six.ckpt"))

        self.assertEqual(first.seen[:6] + rest.seen, whole.seen)


@unittest.skipUnless(os.path.exists(GUIDE), "needs a checkout")
class GuideTest(FrameworkCase):
    """Runs what the guide says, before and after the change."""

    def run_section(self, title, leading, **scope):
        with open(GUIDE, encoding="utf-8") as file:
            section = re.search(f"\n## {title}\n(.*?)(\n## |$(?!\n))", file.read(), re.DOTALL)[1]
        scope = {"larder": larder, "np": np, "train": lambda images, labels: self.seen.append(labels), **scope}
        blocks = re.findall("```diff\n(.*?)```", section, re.DOTALL)
        self.assertTrue(blocks)
        self.seen = []
        before = os.getcwd()
        os.chdir(self.files)
        try:
            for block in blocks:
                exec("\n".join(line[1:] for line in block.splitlines() if line[:1] in (" ", leading)), scope)
        finally:
            os.chdir(before)
        return scope

    def setUp(self):
        super().setUp()
        self.files = self.folder()
        for name in NAMES:
            np.save(os.path.join(self.files, name + ".npy"), self.images if name == NAMES[0] else self.labels)

    @needs("datasets")
    def test_hugging_face(self):
        if "HF_HOME" not in os.environ:
            os.environ.update(HF_HUB_OFFLINE="1", HF_HOME=self.files)
        import datasets

        datasets.disable_progress_bars()
        with open(os.path.join(self.files, "reviews.csv"), "w", encoding="utf-8") as file:
            file.write("text\ngood film\nbad\n")
        columns = {"train-images": self.images, "train-labels": self.labels}
        datasets.Dataset.from_dict(columns).save_to_disk(os.path.join(self.files, "mnist"))
        for leading in "-", "+":
            scope = self.run_section("Hugging Face", leading, datasets=datasets, tokenize=lambda row: {"tokens": [*map(len, row["text"].split())]})
            self.assertEqual(([*scope["first"]], np.concatenate(self.seen).tolist()), ([4, 4], self.labels.tolist()))
        self.assertEqual([row.tolist() for row in larder.dataset("reviews").ragged("tokens")], [[4, 4], [3]])
        self.assertEqual(list(larder.dataset("reviews").strings("text")), ["good film", "bad"])

    @needs("pandas", "pyarrow")
    def test_pandas_and_polars(self):
        import pandas

        with open(os.path.join(self.files, "reviews.csv"), "w", encoding="utf-8") as file:
            file.write("text,stars\ngood film,5\nbad,1\n")
        self.publish("reviews", {"stars": np.array([5, 1])}, {"text": make_store.strings(["good film", "bad"])})
        for leading in "-", "+":
            scope = self.run_section("pandas and polars", leading, pd=pandas)
            self.assertEqual((scope["good"]["text"].tolist(), scope["good"]["stars"].tolist()), (["good film"], [5]))

    @needs("jax")
    def test_jax(self):
        import jax
        import jax.numpy as jnp

        def step(parameters, batch):
            self.seen.append(batch["train-labels"])
            return parameters + batch["train-images"].sum()

        for leading in "-", "+":
            scope = self.run_section("JAX", leading, jax=jax, jnp=jnp, step=step, parameters=0, labels=self.labels)
            self.assertAlmostEqual(float(scope["mean"]), self.images.mean(), 3)
            self.assertEqual(int(scope["parameters"]), 2 * self.images.sum())
            self.assertEqual(sum(map(len, self.seen)), 2 * 1000)

    @needs("lightning", "torch")
    def test_lightning(self):
        import lightning
        import torch
        from torch.utils import data

        logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)

        class Model(lightning.LightningModule):
            def training_step(model, batch, _):
                self.seen.append((batch if isinstance(batch, list) else batch["train-labels"])[-1])

            def configure_optimizers(model):
                return None

        for leading in "-", "+":
            trainer = lightning.Trainer(accelerator="cpu", devices=1, max_epochs=1, logger=False, enable_progress_bar=False,
                                        enable_model_summary=False, enable_checkpointing=False)
            self.run_section("Lightning", leading, lightning=lightning, trainer=trainer, model=Model(), images=torch.from_numpy(self.images),
                             labels=torch.from_numpy(self.labels), TensorDataset=data.TensorDataset, DataLoader=data.DataLoader)
            self.assertEqual(len(self.seen), 4)

    @needs("ray", "pydantic")
    def test_ray(self):
        with with_ray(self) as ray:
            for leading in "-", "+":
                scope = self.run_section("Ray", leading, ray=ray)
                self.assertEqual(scope["totals"], self.images.reshape(10, -1).sum(axis=1).tolist())

    @needs("joblib", "sklearn")
    def test_scikit_learn_and_joblib(self):
        from joblib import Parallel, delayed
        from joblib.externals import loky
        from sklearn.ensemble import RandomForestClassifier
        from sklearn.model_selection import GridSearchCV

        self.addCleanup(lambda: loky.get_reusable_executor().shutdown(wait=True))
        for leading in "-", "+":
            scope = self.run_section("scikit-learn and joblib", leading, Parallel=Parallel, delayed=delayed, GridSearchCV=GridSearchCV,
                                     RandomForestClassifier=RandomForestClassifier)
            self.assertEqual(scope["totals"], self.images.reshape(10, -1).sum(axis=1).tolist())
            self.assertIn(scope["search"].best_params_["max_depth"], (2, 4))


if __name__ == "__main__":
    unittest.main()
