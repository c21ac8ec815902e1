package dev.larder.message;

import com.google.gson.stream.JsonReader;
import com.google.gson.stream.JsonToken;
import com.google.gson.stream.JsonWriter;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The codecs of types that have parts. */
final class CompoundCodecs {
    private CompoundCodecs() {}

    /** A record; its codec is made when it is used, as records may contain their own kind. */
    record OfRecord(Class<?> type) implements ValueCodec {
        @Override
        public Object read(Messages.Source source) throws IOException {
            return RecordCodec.of(type).read(source);
        }

        @Override
        public void write(JsonWriter json, Object value) throws IOException {
            RecordCodec.of(type).write(json, value);
        }
    }

    record OfList(ValueCodec elements) implements ValueCodec {
        @Override
        public Object read(Messages.Source source) throws IOException {
            JsonReader json = source.json();
            ValueCodec.require(json, JsonToken.BEGIN_ARRAY, "a list");
            List<Object> list = new ArrayList<>();
            json.beginArray();
            while (json.hasNext()) {
                try {
                    list.add(elements.read(source));
                } catch (BadMessage e) {
                    throw e.in("[" + list.size() + "]");
                }
            }
            json.endArray();
            return list;
        }

        @Override
        public void write(JsonWriter json, Object value) throws IOException {
            json.beginArray();
            for (Object element : (List<?>) value) {
                elements.write(json, element);
            }
            json.endArray();
        }
    }

    record OfMap(ValueCodec values) implements ValueCodec {
        @Override
        public Object read(Messages.Source source) throws IOException {
            JsonReader json = source.json();
            ValueCodec.require(json, JsonToken.BEGIN_OBJECT, "an object");
            Map<String, Object> map = new LinkedHashMap<>();
            json.beginObject();
            while (json.hasNext()) {
                String key = json.nextName();
                try {
                    if (map.put(key, values.read(source)) != null) {
                        throw new BadMessage("", "it is there twice");
                    }
                } catch (BadMessage e) {
                    throw e.in(ValueCodec.shown(key));
                }
            }
            json.endObject();
            return map;
        }

        @Override
        public void write(JsonWriter json, Object value) throws IOException {
            json.beginObject();
            for (Map.Entry<?, ?> entry : ((Map<?, ?>) value).entrySet()) {
                values.write(json.name((String) entry.getKey()), entry.getValue());
            }
            json.endObject();
        }
    }

    /** One of the records of a sealed interface: an object whose only member has the name of the record. */
    static final class OfSealed implements ValueCodec {
        private final Map<String, Class<?>> types = new HashMap<>();

        OfSealed(Class<?> type) {
            for (Class<?> permitted : type.getPermittedSubclasses()) {
                types.put(word(permitted), permitted);
            }
        }

        private static String word(Class<?> type) {
            String name = type.getSimpleName();
            return Character.toLowerCase(name.charAt(0)) + name.substring(1);
        }

        @Override
        public Object read(Messages.Source source) throws IOException {
            JsonReader json = source.json();
            ValueCodec.require(json, JsonToken.BEGIN_OBJECT, "an object");
            json.beginObject();
            if (!json.hasNext()) {
                throw new BadMessage("", "it is empty");
            }
            String word = json.nextName();
            Class<?> type = types.get(word);
            if (type == null) {
                throw new BadMessage(ValueCodec.shown(word), "no such field");
            }
            try {
                Object value = RecordCodec.of(type).read(source);
                if (json.hasNext()) {
                    throw new BadMessage("", "it has a second member beside it");
                }
                json.endObject();
                return value;
            } catch (BadMessage e) {
                throw e.in(word);
            }
        }

        @Override
        public void write(JsonWriter json, Object value) throws IOException {
            json.beginObject();
            RecordCodec.of(value.getClass()).write(json.name(word(value.getClass())), value);
            json.endObject();
        }
    }
}
