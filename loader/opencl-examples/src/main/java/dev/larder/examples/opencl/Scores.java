package dev.larder.examples.opencl;

import dev.larder.loader.device.Fence;
import dev.larder.loader.opencl.OpenClDevice;
import java.nio.FloatBuffer;
import java.time.Duration;
import org.jocl.CL;
import org.jocl.cl_event;
import org.jspecify.annotations.Nullable;

/**
 * Losses and hits of an epoch, brought back without holding up the device: every step leaves its own on the device, and the host
 * fetches a page of them when the device is already busy with the next page.
 */
final class Scores implements AutoCloseable {
    private static final int STEPS = 64;
    private static final Duration PATIENCE = Duration.ofMinutes(1);

    private final OwnDevice device;
    private final FloatBuffer fetched = OwnDevice.floats(2 * STEPS);
    private Matrix page;
    private Matrix other;
    private int steps;
    private @Nullable Fence otherWritten;
    private int otherSteps;
    private long samples;
    private double loss;
    private double hits;

    /** What an epoch came to, a sample on average. */
    record Score(double loss, double accuracy) {
        static final Score NONE = new Score(Double.NaN, Double.NaN);
    }

    Scores(OwnDevice device) {
        this.device = device;
        this.page = device.zeros(STEPS, 2);
        this.other = device.zeros(STEPS, 2);
    }

    /** Notes what the network measured last. */
    void add(Mlp network, int count) {
        network.tally(count, page, steps++);
        samples += count;
        if (steps == STEPS) {
            turn();
        }
    }

    /** Has the next steps write the other page, once that is read: it was written a page ago, so hardly ever does this wait. */
    private void turn() {
        collect();
        cl_event event = device.mark();
        otherWritten = OpenClDevice.fence(event);
        CL.clReleaseEvent(event);
        otherSteps = steps;
        steps = 0;
        Matrix written = page;
        page = other;
        other = written;
    }

    private void collect() {
        if (otherWritten == null) {
            return;
        }
        try (Fence written = otherWritten) {
            written.await(PATIENCE);
        }
        otherWritten = null;
        device.read(other, fetched);
        for (int i = 0; i < otherSteps; i++) {
            loss += fetched.get(2 * i);
            hits += fetched.get(2 * i + 1);
        }
    }

    /** Waits for the last step, and begins anew. */
    Score finish() {
        turn();
        collect();
        Score score = new Score(loss / samples, hits / samples);
        samples = 0;
        loss = 0;
        hits = 0;
        return score;
    }

    /** Gives up what was not fetched. */
    @Override
    public void close() {
        if (otherWritten != null) {
            otherWritten.close();
            otherWritten = null;
        }
    }
}
