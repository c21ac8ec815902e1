package dev.larder.bench;

import dev.larder.client.ArrayView;
import dev.larder.client.Dataset;
import dev.larder.client.Larder;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/** An array of the benchmark's dataset, with every page touched. */
@State(Scope.Benchmark)
public abstract class OpenArray {
    public Larder larder;
    public Dataset dataset;
    public ArrayView view;

    /** Returns the name of the array. */
    protected abstract String array();

    /** Runs after the array was opened. */
    protected void opened() {}

    /** Opens the array and reads all of it once. */
    @Setup
    public void open() {
        larder = Larder.connect(BenchStore.path());
        dataset = larder.dataset(BenchStore.DATASET);
        view = dataset.array(array());
        BenchStore.touch(view);
        opened();
    }

    /** Closes everything. */
    @TearDown
    public void close() {
        larder.close();
    }
}
