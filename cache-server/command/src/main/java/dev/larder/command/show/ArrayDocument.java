package dev.larder.command.show;

import com.google.gson.stream.JsonWriter;
import dev.larder.client.ArrayView;
import java.io.IOException;

/** Writes the JSON of an array: its dtype and shape, and the statistics of its elements. */
public final class ArrayDocument {
    private ArrayDocument() {}

    /** Writes the first keys of an object: name, dtype, shape and order. */
    public static void form(JsonWriter document, ArrayView view) throws IOException {
        document.name("name").value(view.name());
        document.name("dtype").jsonValue(view.dtype().descrJson());
        document.name("shape").beginArray();
        for (long extent : view.shape()) {
            document.value(extent);
        }
        document.endArray().name("order").value(view.order().name());
    }

    /** Writes count, minimum, maximum, mean and standard deviation. */
    public static void statistics(JsonWriter json, Statistics statistics) throws IOException {
        json.name("count").value(statistics.count());
        json.name("nanCount").value(statistics.nanCount());
        json.name("infiniteCount").value(statistics.infiniteCount());
        if (statistics.areIntegers()) {
            json.name("min").jsonValue(statistics.minText());
            json.name("max").jsonValue(statistics.maxText());
        } else {
            ShowJson.number(json.name("min"), statistics.min());
            ShowJson.number(json.name("max"), statistics.max());
        }
        ShowJson.number(json.name("mean"), statistics.mean());
        ShowJson.number(json.name("std"), statistics.std());
    }

    /** Writes the edges and counts of a histogram. */
    public static void histogram(JsonWriter json, Histogram histogram) throws IOException {
        json.name("histogram").beginObject().name("edges").beginArray();
        for (double edge : histogram.edges()) {
            json.value(edge);
        }
        json.endArray().name("counts").beginArray();
        for (long count : histogram.counts()) {
            json.value(count);
        }
        json.endArray().endObject();
    }
}
