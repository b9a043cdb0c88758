package io.lendstream.actuator;

import io.lendstream.service.fake.HelpPage;
import org.junit.jupiter.api.Test;

class HelpTest {
    @Test
    void theHelpBeginsWithWhatTheServiceDoes() {
        HelpPage.mustBeginWith("Executes the scheduler's decisions", new ActuatorCommand());
    }
}
