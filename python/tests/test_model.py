import pickle
import shutil

import numpy as np
import pytest

import foxhunt


def test_a_model_says_what_it_is(model, case):
    assert model.n_features == case.rows.shape[1] == len(model.feature_names)
    assert model.feature_names[:2] == ("ret_1", "ret_3")
    assert model.output_names == ("down", "flat", "up") and model.n_outputs == 3
    assert (model.product, model.weights, model.bar_seconds, model.warm_up) == ("ES", "fp32", 60, 9)
    assert len(model.model_id) == len(model.file_id) == 64
    assert model.certificate["decision_flips"] == 0 and model.training["epochs"] == 3
    assert model.bytes_per_step > 0 and model.path == str(case.path)
    assert model.model_id[:12] in repr(model)


def test_verify_replays_the_golden_rows(model):
    report = model.verify()
    assert report and report.ok and report.text == ""
    assert report.rows > 100 and report.decision_flips == 0
    assert report.max_difference <= report.bound_difference == 1e-5  # bound_of(fp32)


def test_weights_and_kernels_are_chosen_by_name(case):
    narrow = foxhunt.Model.open(case.path, weights="int8", kernels="scalar")
    assert narrow.weights == "int8" and narrow.kernels.startswith("scalar")
    assert narrow.model_id == foxhunt.Model.open(case.path).model_id


def test_bytes_open_like_the_file(case, model):
    again = foxhunt.Model.from_bytes(case.path.read_bytes(), name="a.fox")
    assert again.model_id == model.model_id and again.path == ""
    with pytest.raises(TypeError, match=r"does not pickle: .*session\.save\(\)"):
        pickle.dumps(again)


def test_errors_have_a_class_and_say_what_to_do(case, tmp_path):
    with pytest.raises(foxhunt.IoError, match="foxhunt export RUN --out no.fox"):
        foxhunt.Model.open(tmp_path / "no.fox")
    data = bytearray(case.path.read_bytes())
    data[len(data) // 2] ^= 1
    with pytest.raises(foxhunt.FormatError, match=r"b\.fox"):
        foxhunt.Model.from_bytes(bytes(data), name="b.fox")
    with pytest.raises(foxhunt.ConfigError, match="sse1.*avx"):
        foxhunt.Model.open(case.path, kernels="sse1")
    with pytest.raises(foxhunt.UsageError, match="fp8.*bf16"):
        foxhunt.Model.open(case.path, weights="fp8")
    for kind in foxhunt.IoError, foxhunt.FormatError, foxhunt.ConfigError, foxhunt.UsageError:
        assert issubclass(kind, foxhunt.Error)


def test_meaning_is_a_softmax_of_the_outputs(model):
    outputs = np.array([1.0, 2.0, 3.0])
    want = np.exp(outputs) / np.exp(outputs).sum()
    np.testing.assert_allclose(model.meaning(outputs.tolist()), want, rtol=1e-15)
    with pytest.raises(ValueError, match="n_outputs"):
        model.meaning([1.0])


def test_a_model_pickles_as_its_path_and_refuses_another_file_there(case, other, tmp_path):
    path = tmp_path / "m.fox"
    shutil.copy(case.path, path)
    model = foxhunt.Model.open(path, weights="bf16")
    pickled = pickle.dumps(model)
    loaded = pickle.loads(pickled)
    assert (loaded.model_id, loaded.weights) == (model.model_id, "bf16")
    shutil.copy(other.path, path)
    with pytest.raises(foxhunt.FormatError, match=r"is model .* now, the pickle is of .*model\.session\(state\)"):
        pickle.loads(pickled)
