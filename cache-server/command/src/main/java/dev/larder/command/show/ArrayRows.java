package dev.larder.command.show;

import com.google.gson.stream.JsonWriter;
import dev.larder.client.ArrayView;
import dev.larder.command.output.ArrayText;
import java.io.IOException;
import java.util.Optional;
import java.util.stream.LongStream;
import java.util.stream.Stream;

/**
 * The rows of an array, as numpy prints them.
 *
 * @param view the array
 * @param elements its elements
 */
public record ArrayRows(ArrayView view, Cells elements) implements ShownRows {
    /** Shows an array. The caller closes the view. */
    public ArrayRows(ArrayView view) {
        this(view, new Cells(view));
    }

    @Override
    public long count() {
        return elements.rows();
    }

    @Override
    public String head(long first, long end) {
        String shape = ArrayText.shape(LongStream.of(view.shape()).boxed().toList());
        boolean areAll = view.dimensions() == 0 || end - first == count();
        String shown = areAll ? "" : " rows=" + first + ":" + end + " of " + count();
        return view.name() + " dtype=" + view.dtype() + " shape=" + shape + " order=" + view.order() + shown;
    }

    @Override
    public Stream<String> lines(long first, long end) {
        return NumpyText.of(elements, first, end - first).stream();
    }

    @Override
    public void write(JsonWriter json, long first, long end) throws IOException {
        form(json);
        json.name("firstRow").value(first).name("values");
        CellJson.rows(json, elements, first, end - first);
    }

    /** Writes the first keys of an object: name, dtype, shape and order. */
    public void form(JsonWriter json) throws IOException {
        json.name("name").value(view.name());
        json.name("dtype").jsonValue(view.dtype().descrJson());
        json.name("shape").beginArray();
        for (long extent : view.shape()) {
            json.value(extent);
        }
        json.endArray().name("order").value(view.order().name());
    }

    @Override
    public Optional<Cells> cells() {
        return Optional.of(elements);
    }
}
