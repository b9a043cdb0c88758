package io.lendstream.scheduler;

import io.lendstream.service.fake.HelpPage;
import org.junit.jupiter.api.Test;

class HelpTest {
    @Test
    void theHelpBeginsWithWhatTheServiceDoes() {
        HelpPage.mustBeginWith("Decides who gets which GPU", new SchedulerMain());
    }
}
