"""usage: verifiers_rollouts.py FOLDER MODEL...

Has verifiers load an exported environment as its users do, and roll out each task once with each model of answer_server.py: by vf-eval
where tasks are a taskset, else by `load_environment`. Prints a JSON object: by model, the rewards and metrics of each task."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

import answer_server

KEY = "KERNELMILL_FAKE_KEY"


def rewards_of_environment(url, models):
    import verifiers

    environment = verifiers.load_environment("kernelmill-tasks", workers=2)
    found = {}
    for model in models:
        config = verifiers.ClientConfig(api_key_var=KEY, api_base_url=url)
        result = environment.evaluate_sync(client=config, model=model, num_examples=-1, rollouts_per_example=1)
        found[model] = [{"reward": each["reward"], "honest": each["metrics"]["honest"], "cases_met": each["metrics"]["cases_met"]}
                        for each in result["outputs"]]
    return found


def rewards_of_taskset(url, models):
    found = {}
    env = {**os.environ, "PATH": f"{pathlib.Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    with tempfile.TemporaryDirectory() as out:
        for model in models:
            done = subprocess.run([
                "vf-eval", "kernelmill-tasks", "--model", model, "--client.base-url", url, "--client.api-key-var", KEY,
                "--env.agent.harness.id", "null", "--env.agent.runtime.type", "subprocess", "--no-push", "--no-rich", "--output-dir", out, "--run.name", model],
                env=env, capture_output=True, text=True, check=False)
            files = list(pathlib.Path(out).glob(f"{model}/traces.jsonl"))
            if done.returncode or not files:
                sys.exit(f"vf-eval: {done.stdout[-3000:]}{done.stderr[-3000:]}")
            rows = [json.loads(line) for line in files[0].read_text().splitlines()]
            traces = [trace for row in rows for trace in row.get("traces", [row])]
            found[model] = [{"reward": each["rewards"]["correct"]["score"], **each["metrics"]} for each in traces]
    return found


def main(folder, models):
    sys.path.insert(0, folder)
    os.environ["PYTHONPATH"] = os.pathsep.join([str(pathlib.Path(folder).resolve()), *filter(None, [os.environ.get("PYTHONPATH")])])
    os.environ[KEY] = "none"
    import verifiers

    with answer_server.serve(pathlib.Path(folder) / "kernelmill_tasks/data") as url:
        roll = rewards_of_environment if hasattr(verifiers, "SingleTurnEnv") else rewards_of_taskset
        print(json.dumps({"version": verifiers.__version__, "rewards": roll(url, models)}))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
