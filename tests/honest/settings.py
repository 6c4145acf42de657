"""Settings that learners change, and what their code leaves in process and folder."""

from tests.honest import honest
from tests.honest.writing import on_top, typed
from tests.submissions import EXERCISES, Submission


@honest
def numpys_errors_raise(submission: Submission) -> None:
    on_top(submission, "softmax", "np.seterr(all='raise')")


@honest
def warnings_are_errors(submission: Submission) -> None:
    on_top(
        submission,
        "softmax",
        "import warnings\nwarnings.filterwarnings('error')\nnp.seterr(all='warn')",
    )


@honest
def warnings_are_ignored(submission: Submission) -> None:
    submission.own("import warnings\nwarnings.simplefilter('ignore')", above="softmax")


@honest
def settings_of_the_libraries(submission: Submission) -> None:
    submission.own(
        typed("""
            import decimal, locale, random, torch

            np.set_printoptions(precision=2, suppress=True, linewidth=20)
            torch.set_default_dtype(torch.float64)
            torch.set_printoptions(precision=1)
            torch.manual_seed(0)
            torch.set_num_threads(1)
            torch.set_grad_enabled(False)
            torch.use_deterministic_algorithms(True)
            decimal.getcontext().prec = 5
            random.seed(0)
            np.random.seed(0)
        """),
        above="softmax",
    )


@honest
def settings_of_python(submission: Submission) -> None:
    submission.own(
        typed("""
            import atexit, faulthandler, gc, sys

            sys.setrecursionlimit(5000)
            sys.path.insert(0, "src")
            sys.path.append("..")
            sys.dont_write_bytecode = True
            gc.disable()
            atexit.register(print, "bye")
            sys.set_int_max_str_digits(10_000)
        """),
        above="softmax",
    )


@honest
def environment_changed(submission: Submission) -> None:
    submission.own(
        typed("""
            import os

            os.environ["OMP_NUM_THREADS"] = "1"
            os.environ["MY_SETTING"] = "Größe"
            print(os.getcwd(), os.environ.get("PATH"), os.cpu_count(), os.getpid())
        """),
        above="softmax",
    )


@honest
def another_folder_entered(submission: Submission) -> None:
    submission.own("import os, tempfile\nos.chdir(tempfile.mkdtemp())", above="softmax")


@honest
def file_written_and_read_back(submission: Submission) -> None:
    on_top(
        submission,
        "softmax",
        """
        from pathlib import Path

        Path("my_results").mkdir(exist_ok=True)
        np.save("my_results/one.npy", np.ones(1))
        Path("notes.txt").write_text("größer als 0 √", encoding="utf-8")
        with open("notes.txt", encoding="utf-8") as notes:
            assert notes.read().endswith("√")
        """,
    )


@honest
def files_used_at_each_call(submission: Submission) -> None:
    submission.answer(
        "scaled_scores",
        typed("""
            import pickle, tempfile


            def scaled_scores(q, k):
                with tempfile.TemporaryDirectory() as folder:
                    with open(f"{folder}/scores.pkl", "wb") as file:
                        pickle.dump(1.0 * q @ np.swapaxes(k, -1, -2), file)
                    with open(f"{folder}/scores.pkl", "rb") as file:
                        return pickle.load(file) / np.sqrt(q.shape[-1])
        """),
    )


@honest
def class_of_their_own_pickled_and_inspected(submission: Submission) -> None:
    on_top(
        submission,
        "softmax",
        """
        import copy, inspect, pickle

        class Note:
            def __init__(self, text):
                self.text = text

        note = pickle.loads(pickle.dumps(Note("mine")))
        assert isinstance(copy.deepcopy(note), Note)
        assert "self.text" in inspect.getsource(Note.__init__)
        """,
    )


@honest
def thread_and_timer_in_a_cell(submission: Submission) -> None:
    submission.own(
        typed("""
            import threading, time

            thread = threading.Thread(target=time.sleep, args=(0.05,))
            thread.start()
            thread.join()
            time.sleep(0.1)
            threading.Timer(0.01, lambda: None).start()
        """),
        above="softmax",
    )


@honest
def large_table_in_a_cell(submission: Submission) -> None:
    submission.own(
        "table = np.zeros((4000, 4000))\n(table @ table[:, :10]).sum()", above="softmax"
    )


@honest
def a_little_time_at_each_answer(submission: Submission) -> None:
    for name in EXERCISES:
        on_top(submission, name, "import time\ntime.sleep(0.02)")
