package dev.larder.command;

import dev.larder.command.output.Units;
import dev.larder.command.signal.Signals;
import dev.larder.command.terminal.QuitKey;
import dev.larder.command.terminal.TopSample;
import dev.larder.command.terminal.TopScreen;
import dev.larder.command.terminal.TopText;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParentCommand;
import picocli.CommandLine.Spec;

/** Shows the store live. */
@Command(
        name = "top",
        description = {
            "Show the daemon, the content of the store and its readers, refreshed until q or Ctrl-C.",
            "On a terminal the view is updated in place, and fits its width. Reads the counters in the store and /proc, so it"
                    + " works even when the daemon hangs or is gone; loads and errors are what the daemon answers, if it"
                    + " does. In the bar # is leased, = resident otherwise, - retired. Readers in other pid namespaces (containers) are not seen."
        })
final class Top implements Callable<Integer> {
    /** The width if standard output is not a terminal. */
    private static final int PRINTED_WIDTH = 160;

    private static final Duration SHORTEST = Duration.ofMillis(100);

    @ParentCommand
    LarderCommand larder;

    @Spec
    CommandSpec spec;

    @Option(
            names = "--interval",
            paramLabel = "D",
            defaultValue = "1s",
            converter = Units.DurationConverter.class,
            description = "Time between two updates (default: 1s).")
    Duration interval;

    @Option(names = "--once", description = "Print once and end.")
    boolean once;

    @Option(names = "--json", description = "Print one JSON object a line for each update.")
    boolean json;

    @Override
    public Integer call() {
        if (interval.compareTo(SHORTEST) < 0) {
            throw new ParameterException(spec.commandLine(), "--interval is at least 100ms");
        }
        Path store = larder.store();
        TopSample first = TopSample.take(store);
        CountDownLatch ended = new CountDownLatch(1);
        if (!once) {
            Signals.handleStops(signal -> ended.countDown()); // before the terminal is changed
        }
        if (json) {
            follow(first, (now, before) -> larder.out().println(TopText.json(now, before)), ended);
        } else if (!once && TopScreen.isThere()) {
            draw(first, ended);
        } else {
            follow(first, this::print, ended);
        }
        return 0;
    }

    @SuppressWarnings("try") // the key is only watched
    private void draw(TopSample first, CountDownLatch ended) {
        try (TopScreen screen = new TopScreen(larder.out());
                QuitKey key = QuitKey.watch(ended::countDown)) {
            follow(first, (now, before) -> screen.show(width -> withKeys(TopText.lines(now, before, width))), ended);
        }
    }

    private static List<String> withKeys(List<String> lines) {
        lines.set(0, lines.get(0).replaceFirst("larder top", "larder top (q quits)"));
        return lines;
    }

    private void print(TopSample now, @Nullable TopSample before) {
        List<String> lines = TopText.lines(now, before, PRINTED_WIDTH);
        if (before != null) {
            larder.out().println();
        }
        lines.forEach(larder.out()::println);
    }

    /** Shows one sample after the other until the latch opens or the output is closed. */
    private void follow(TopSample first, BiConsumer<TopSample, @Nullable TopSample> show, CountDownLatch ended) {
        TopSample now = first;
        show.accept(first, null);
        while (!once && !larder.out().checkError() && !isOver(ended)) {
            TopSample before = now;
            now = TopSample.takeAfter(before);
            show.accept(now, before);
        }
    }

    private boolean isOver(CountDownLatch ended) {
        try {
            return ended.await(interval.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return true;
        }
    }
}
