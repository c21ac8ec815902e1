package dev.larder.loader.internal.sample;

import static org.assertj.core.api.Assertions.assertThat;

import dev.larder.loader.sample.BatchSampler;
import dev.larder.loader.sample.Buckets;
import dev.larder.loader.sample.Labels;
import dev.larder.loader.sample.Lengths;
import dev.larder.loader.sample.Mixture;
import dev.larder.loader.sample.Sampler;
import dev.larder.loader.sample.Subset;
import dev.larder.loader.sample.TokenBudget;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class OrderThreadTest {
    private static final int ROWS = 1000;
    private static final Subset HALF = Subset.range(0, ROWS / 2);

    private static double[] ones() {
        double[] ones = new double[ROWS];
        Arrays.fill(ones, 1);
        return ones;
    }

    /** Returns computations of whole orders. */
    static Stream<Runnable> orders() {
        Lengths lengths = Lengths.of(new int[ROWS]);
        return Stream.of(
                () -> Sampler.random(1).order(ROWS, 0),
                () -> Sampler.stratified(Labels.of(new int[ROWS]), 1).order(ROWS, 0),
                () -> Sampler.weightedWithoutReplacement(ones(), 1, 1).order(ROWS, 0),
                () -> Buckets.of(lengths).batchSizes(10).order(ROWS, 0),
                () -> TokenBudget.of(lengths).maxTokens(10).order(ROWS, 0),
                () -> SortedKeys.places(ones()));
    }

    /** Runs on a thread that computes orders and is interrupted; returns the exception, if any. */
    private static @Nullable Throwable interrupted(Runnable order) throws InterruptedException {
        CompletableFuture<@Nullable Throwable> failure = new CompletableFuture<>();
        Thread thread = new OrderThread(() -> {
            Thread.currentThread().interrupt();
            try {
                order.run();
                failure.complete(null);
            } catch (Throwable e) {
                failure.complete(e);
            }
        });
        thread.start();
        thread.join();
        return failure.join();
    }

    @ParameterizedTest
    @MethodSource("orders")
    void anOrderThatIsNotWantedAnyMoreIsGivenUp(Runnable order) throws InterruptedException {
        assertThat(interrupted(order)).isInstanceOf(CancellationException.class);
    }

    @ParameterizedTest
    @MethodSource("orders")
    void anInterruptOfAnotherThreadDoesNotStopAnOrder(Runnable order) {
        Thread.currentThread().interrupt();
        order.run();

        assertThat(Thread.interrupted()).isTrue();
    }

    @Test
    void anOrderIsGivenUpOnlyAtSomeRows() throws InterruptedException {
        assertThat(interrupted(() -> OrderThread.requireWanted(1))).isNull();
        assertThat(interrupted(() -> OrderThread.requireWanted(65_535))).isNull();
        assertThat(interrupted(() -> OrderThread.requireWanted(65_536))).isInstanceOf(CancellationException.class);
    }

    @Test
    void heapIsCountedForAllThatIsComputedFirst() {
        Lengths lengths = Lengths.of(new int[ROWS]);
        Sampler once = Sampler.weightedWithoutReplacement(ones(), 100, 1);
        Sampler stratified = Sampler.stratified(Labels.of(new int[ROWS]), 1);
        Map<Object, Integer> bytes = new LinkedHashMap<>();
        bytes.put(Sampler.sequential(), 0);
        bytes.put(Sampler.permuted(1), 0);
        bytes.put(Sampler.random(1), 4 * ROWS);
        bytes.put(Sampler.random(1).over(HALF), 4 * ROWS / 2);
        bytes.put(once, 16 * ROWS + 4 * 100);
        bytes.put(once.over(HALF), 16 * ROWS / 2 + 4 * 100);
        bytes.put(stratified, 20 * ROWS);
        bytes.put(BatchSampler.of(stratified, 10, true), 20 * ROWS);
        bytes.put(BatchSampler.of(stratified, 10, true).over(HALF), 20 * ROWS / 2);
        bytes.put(Buckets.of(lengths).batchSizes(10), 8 * ROWS / 10 + 4 * (ROWS / 16));
        bytes.put(Buckets.of(lengths).batchSizes(10).over(HALF), 8 * ROWS / 20 + 4 * (ROWS / 32));
        bytes.put(TokenBudget.of(lengths).maxTokens(10), 24 * ROWS);
        bytes.put(TokenBudget.of(lengths).maxTokens(10).over(HALF), 24 * ROWS / 2);
        bytes.put(Mixture.bySize().sampler(Sampler.random(1), 1, 400, 600), 4 * ROWS);
        bytes.put((Sampler) (rows, epoch) -> Sampler.sequential().order(rows, epoch), 0);

        bytes.forEach((sampler, expected) -> assertThat(OrderThread.heapBytes(sampler, ROWS))
                .as("%s", sampler)
                .isEqualTo(expected.longValue()));
    }
}
