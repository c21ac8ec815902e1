package dev.larder.testing;

import java.time.Duration;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Lets Awaitility wait for a minute where a test names no limit: on a busy machine a JVM takes longer to start than its usual ten
 * seconds. And lets it look more often than it usually does. JUnit finds it by itself, as it finds {@link LeavesNothingBehind}.
 */
public final class PatientAwaitility implements BeforeAllCallback {
    private static final Duration PATIENCE = Duration.ofMinutes(1);

    /** Its usual tenth of a second, some thousand times over, is minutes. */
    private static final Duration BETWEEN_LOOKS = Duration.ofMillis(20);

    @Override
    public void beforeAll(ExtensionContext context) {
        Awaitility.setDefaultTimeout(PATIENCE);
        Awaitility.setDefaultPollDelay(BETWEEN_LOOKS);
        Awaitility.setDefaultPollInterval(BETWEEN_LOOKS);
    }
}
