package dev.larder.message;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.reflect.Type;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The codec of each type, made anew: those of messages are made once, when their class is initialized. */
class ValueCodecTest {
    enum Colour {
        RED
    }

    sealed interface Shape permits Circle {}

    record Circle(long radius) implements Shape {}

    interface Types {
        List<String> list();

        Map<String, Long> map();

        Circle record();

        Colour choice();

        Shape sealed();

        long number();

        Set<String> set();

        Map<Long, String> numbered();

        List<StringBuilder> builders();

        List<String>[] lists();

        StringBuilder builder();
    }

    private static Type type(String name) throws NoSuchMethodException {
        return Types.class.getDeclaredMethod(name).getGenericReturnType();
    }

    @ParameterizedTest
    @CsvSource({
        "list, OfList",
        "map, OfMap",
        "record, OfRecord",
        "choice, OfEnum",
        "sealed, OfSealed",
        "number, OfInteger",
    })
    void aTypeHasTheCodecOfItsKind(String name, String codec) throws NoSuchMethodException {
        assertThat(ValueCodec.of(type(name)).getClass().getSimpleName()).isEqualTo(codec);
    }

    @ParameterizedTest
    @CsvSource({
        "set, java.util.Set<java.lang.String>",
        "numbered, 'java.util.Map<java.lang.Long, java.lang.String>'",
        "builders, class java.lang.StringBuilder",
        "lists, java.util.List<java.lang.String>[]",
        "builder, class java.lang.StringBuilder",
    })
    void aTypeThatNoMessageHasIsRefused(String name, String shown) {
        assertThatThrownBy(() -> ValueCodec.of(type(name)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("no messages of " + shown);
    }
}
