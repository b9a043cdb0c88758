package io.lendstream.load;

import io.lendstream.service.fake.HelpPage;
import org.junit.jupiter.api.Test;

class HelpTest {
    @Test
    void theHelpBeginsWithWhatTheServiceDoes() {
        HelpPage.mustBeginWith("Write a workload to Kafka", new LoadCommand());
    }
}
