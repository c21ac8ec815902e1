package dev.larder.command.serve;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.spi.Configurator;
import java.util.ServiceLoader;
import org.junit.jupiter.api.Test;

class QuietLoggingTest {
    /** Without it logback writes everything to standard output, which belongs to what was asked for. */
    @Test
    void logbackFindsIt() {
        assertThat(ServiceLoader.load(Configurator.class)).hasAtLeastOneElementOfType(QuietLogging.class);
    }
}
