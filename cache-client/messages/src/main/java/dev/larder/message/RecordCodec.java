package dev.larder.message;

import com.google.gson.stream.JsonReader;
import com.google.gson.stream.JsonToken;
import com.google.gson.stream.JsonWriter;
import dev.larder.message.Messages.UnknownFields;
import java.io.IOException;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.RecordComponent;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Reads and writes the records of one class as JSON objects. */
final class RecordCodec implements ValueCodec {
    private static final ClassValue<RecordCodec> CODECS = new ClassValue<>() {
        @Override
        protected RecordCodec computeValue(Class<?> type) {
            return new RecordCodec(type);
        }
    };

    private final Constructor<?> constructor;
    private final Field[] fields;
    private final Map<String, Integer> indices = new HashMap<>();

    private record Field(
            String name,
            Method accessor,
            ValueCodec codec,
            boolean isOptional,
            @Nullable Object absent) {
        @Nullable
        Object value(Object record) {
            try {
                return accessor.invoke(record);
            } catch (ReflectiveOperationException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    private RecordCodec(Class<?> type) {
        RecordComponent[] components = type.getRecordComponents();
        Class<?>[] types = new Class<?>[components.length];
        fields = new Field[components.length];
        for (int i = 0; i < components.length; i++) {
            types[i] = components[i].getType();
            fields[i] = field(components[i]);
            indices.put(fields[i].name, i);
        }
        try {
            constructor = type.getDeclaredConstructor(types);
            constructor.setAccessible(true);
        } catch (NoSuchMethodException e) {
            throw new IllegalArgumentException("not a record: " + type, e);
        }
    }

    private static Field field(RecordComponent component) {
        OptionalField optional = component.getAnnotation(OptionalField.class);
        Method accessor = component.getAccessor();
        accessor.setAccessible(true);
        ValueCodec codec = ValueCodec.of(component.getGenericType());
        FieldName name = component.getAnnotation(FieldName.class);
        return new Field(
                name == null ? component.getName() + codec.suffix() : name.value(),
                accessor,
                codec,
                optional != null,
                codec.absent(optional == null ? 0 : optional.orElse()));
    }

    static RecordCodec of(Class<?> type) {
        return CODECS.get(type);
    }

    @Override
    public Object read(Messages.Source source) throws IOException {
        JsonReader json = source.json();
        ValueCodec.require(json, JsonToken.BEGIN_OBJECT, "an object");
        @Nullable Object[] values = new Object[fields.length];
        boolean[] seen = new boolean[fields.length];
        json.beginObject();
        while (json.hasNext()) {
            readMember(source, json.nextName(), values, seen);
        }
        json.endObject();
        for (int i = 0; i < fields.length; i++) {
            if (values[i] == null) {
                if (!fields[i].isOptional && !source.isTolerant()) {
                    throw new BadMessage(fields[i].name, "it is missing");
                }
                values[i] = fields[i].absent;
            }
        }
        return construct(values);
    }

    private void readMember(Messages.Source source, String name, @Nullable Object[] values, boolean[] seen)
            throws IOException {
        Integer index = indices.get(name);
        if (index == null) {
            if (source.unknown() == UnknownFields.REFUSED) {
                throw new BadMessage(ValueCodec.shown(name), "no such field");
            }
            source.json().skipValue();
            return;
        }
        if (seen[index]) {
            throw new BadMessage(name, "it is there twice");
        }
        seen[index] = true;
        if (source.json().peek() == JsonToken.NULL && (fields[index].isOptional || source.isTolerant())) {
            source.json().nextNull();
            return;
        }
        try {
            values[index] = fields[index].codec.read(source);
        } catch (BadMessage e) {
            throw e.in(name);
        }
    }

    private Object construct(@Nullable Object[] values) {
        try {
            return constructor.newInstance(values);
        } catch (InvocationTargetException e) {
            if (e.getCause() instanceof Error error) {
                throw error;
            }
            throw new BadMessage(
                    "", e.getCause() == null ? "" : String.valueOf(e.getCause().getMessage()));
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public void write(JsonWriter json, Object record) throws IOException {
        json.beginObject();
        for (Field field : fields) {
            Object value = field.value(record);
            if (value == null && !field.isOptional) {
                throw new IllegalArgumentException(field.name + " is null in " + record);
            }
            boolean isAbsent =
                    field.isOptional && (value == null || (field.absent != null && field.absent.equals(value)));
            if (value != null && !isAbsent) { // no equals of a record: its first call takes 45 ms to compile
                field.codec.write(json.name(field.name), value);
            }
        }
        json.endObject();
    }
}
