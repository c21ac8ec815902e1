package dev.larder.loader;

import static org.assertj.core.api.Assertions.assertThat;

import dev.larder.client.Dataset;
import dev.larder.client.Larder;
import dev.larder.loader.sample.Shard;
import dev.larder.testing.ChildJvm;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * A process that reads steps of an epoch with all ranks. It prints {@code trainer} and its number first. Its commands are lines: world, tail, seed
 * or {@code -}, batch size, epoch, number of steps, and the state to resume, or nothing. It prints for each step the valid rows of each rank and
 * the states of the ranks, without equal ones; then {@code end}. In Python it is a fork of a process that has imported everything, so that
 * another one costs little after a kill.
 */
final class TrainerProcess implements AutoCloseable {
    private static final String BEGIN = "trainer ";

    private static final String PYTHON = """
        import importlib.util, itertools, json, os, sys, warnings, larder
        kinds = [larder.Loader]
        if sys.argv[1] == "torch" and importlib.util.find_spec("torch"):
            import larder.torch
            kinds.append(larder.torch.Loader)
            if importlib.util.find_spec("torchdata"):
                warnings.simplefilter("ignore")  # it uses what PyTorch has deprecated
                from torchdata.stateful_dataloader import StatefulDataLoader

                def saved(state):  # the loader's state within that of torchdata
                    if isinstance(state, dict):
                        return state if "consumed" in state else next(filter(None, map(saved, state.values())), None)

                class Stateful(StatefulDataLoader):
                    def __init__(self, *names, **settings):
                        super().__init__(larder.torch.Loader(*names, **settings), batch_size=None)
                        self.set_epoch, self.load_state_dict = self.dataset.set_epoch, self.dataset.load_state_dict

                    def state_dict(self):
                        return saved(super().state_dict())

                kinds.append(Stateful)
        while os.fork():
            if os.wait()[1] == 0:
                sys.exit()
        print("\\ntrainer", os.getpid(), flush=True)
        shelf = larder.dataset("shelf")
        for command in sys.stdin:
            world, tail, seed, size, epoch, steps, state = command.rstrip("\\n").split("\\t")
            ranks = [kinds[(int(world) + int(steps)) % len(kinds)](shelf, ["labels"], batch_size=int(size), shuffle=None if seed == "-" else int(seed),
                                                shard=(rank, int(world)), tail=tail.lower(), threads=int(rank == 0)) for rank in range(int(world))]
            for rank in ranks:
                rank.load_state_dict(state) if state else rank.set_epoch(int(epoch))
            done = state and json.loads(state)["consumed"] == json.loads(state)["length"]
            for batches in itertools.islice(zip(*ranks), 0 if done else int(steps)):
                rows = "|".join(",".join(str(int(row)) for row in batch["labels"][:batch.valid_size]) for batch in batches)
                states = {json.dumps(rank.state_dict(), separators=(",", ":")) for rank in ranks}
                print(rows, *states, sep="\\t", flush=True)
            print("end", flush=True)
        """;

    private final List<String> command;
    private final Path store;
    private final int commandsToAKill;
    private Process process;
    private ProcessHandle trainer;
    private BufferedReader lines;
    private Writer commands;
    private int begun;
    private int kills;

    private TrainerProcess(Path store, int commandsToAKill, List<String> command) throws IOException {
        this.store = store;
        this.commandsToAKill = commandsToAKill;
        this.command = command;
        start();
    }

    static TrainerProcess java(Path store) throws IOException {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-XX:-UsePerfData",
                "-XX:+UseSerialGC"));
        command.addAll(ChildJvm.libraryFlags());
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), TrainerProcess.class.getName()));
        return new TrainerProcess(store, 20, command);
    }

    /** Starts a trainer in Python that also uses PyTorch's and torchdata's loaders, if they are wanted and importable. */
    static TrainerProcess python(Path store, boolean torch) throws IOException {
        String uses = torch ? "torch" : "";
        return new TrainerProcess(store, 2, List.of(python(), "-B", "-W", "error", "-c", PYTHON, uses));
    }

    private static String python() {
        return System.getProperty("larder.python", "python3");
    }

    static boolean hasNumpy() throws IOException {
        return new ProcessBuilder(python(), "-c", "import numpy")
                        .start()
                        .onExit()
                        .join()
                        .exitValue()
                == 0;
    }

    private void start() throws IOException {
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
        builder.environment().remove("JAVA_TOOL_OPTIONS");
        builder.environment().put("LARDER_STORE", store.toString());
        builder.environment()
                .put("PYTHONPATH", Path.of("../../ops/python").toAbsolutePath().toString());
        process = builder.start();
        lines = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
        commands = process.outputWriter(StandardCharsets.UTF_8);
        trainer = startedTrainer();
    }

    /** Waits until the trainer begins, and passes over the last lines of one that was killed. */
    private ProcessHandle startedTrainer() throws IOException {
        List<String> passed = new ArrayList<>();
        String line = lines.readLine();
        while (line != null && !line.startsWith(BEGIN)) {
            passed.add(line);
            line = lines.readLine();
        }
        assertThat(line).as("trainer did not begin: " + passed).isNotNull();
        return ProcessHandle.of(Long.parseLong(line.substring(BEGIN.length()))).orElseThrow();
    }

    /** Returns whether to kill it in its next command; in Java it is rarely, because a start takes long. */
    boolean isToBeKilled() {
        return begun % commandsToAKill == commandsToAKill / 2;
    }

    void begin(String settings, int steps, String state) throws IOException {
        begun++;
        commands.write(settings + "\t" + steps + "\t" + state + "\n");
        commands.flush();
    }

    /** Returns the next line; fails with the rest of the output where there is none. */
    String line() throws IOException {
        String line = lines.readLine();
        if (line == null || !(line.equals("end") || line.contains("\t"))) {
            commands.close(); // it ends, if it has not
            throw new AssertionError("trainer failed: " + line + "\n"
                    + String.join("\n", lines.lines().toList()));
        }
        return line;
    }

    /** Kills it as {@code kill -9} does, and starts another one. */
    void kill() throws IOException {
        kills++;
        trainer.destroyForcibly();
        if (trainer.pid() == process.pid()) {
            process.onExit().join();
            start();
        } else {
            trainer = startedTrainer();
        }
    }

    /** Returns how often it was killed. */
    int kills() {
        return kills;
    }

    @Override
    public void close() {
        process.destroyForcibly().onExit().join(); // first, so that it forks no other one
        trainer.destroyForcibly();
    }

    public static void main(String[] arguments) throws IOException {
        BufferedReader commands = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        System.out.println(BEGIN + ProcessHandle.current().pid());
        try (Larder larder = Larder.connect(Path.of(System.getenv("LARDER_STORE")));
                Dataset dataset = larder.dataset("shelf")) {
            for (String command = commands.readLine(); command != null; command = commands.readLine()) {
                train(dataset, command.split("\t", -1));
            }
        }
    }

    private static void train(Dataset dataset, String[] words) {
        int world = Integer.parseInt(words[0]);
        LoaderBuilder builder = Loader.over(dataset).arrays("labels");
        if (!words[2].equals("-")) {
            builder.shuffle(Long.parseLong(words[2]));
        }
        List<Loader> ranks = IntStream.range(0, world)
                .mapToObj(rank -> builder.shard(new Shard(rank, world, Shard.Tail.valueOf(words[1])))
                        .batchSize(Integer.parseInt(words[3]))
                        .threads(rank == 0 ? 1 : 0)
                        .build())
                .toList();
        List<Iterator<Batch>> batches = ranks.stream()
                .map(rank -> words[6].isEmpty()
                        ? rank.epoch(Long.parseLong(words[4]))
                        : rank.resume(LoaderState.parse(words[6])))
                .map(Epoch::iterator)
                .toList();
        for (int step = 0; step < Integer.parseInt(words[5]) && batches.get(0).hasNext(); step++) {
            System.out.println(describe(batches.stream().map(Iterator::next).toList()));
        }
        ranks.forEach(Loader::close);
        System.out.println("end");
    }

    private static String describe(List<Batch> step) {
        Set<String> states = new TreeSet<>();
        step.forEach(batch -> states.add(batch.stateAfter().toJson()));
        return step.stream()
                        .map(batch -> IntStream.range(0, batch.validSize())
                                .mapToObj(i -> String.valueOf(batch.row(i)))
                                .collect(Collectors.joining(",")))
                        .collect(Collectors.joining("|"))
                + "\t" + String.join("\t", states);
    }
}
