package io.lendstream.agent;

import io.lendstream.service.fake.HelpPage;
import org.junit.jupiter.api.Test;

class HelpTest {
    @Test
    void theHelpBeginsWithWhatTheServiceDoes() {
        HelpPage.mustBeginWith("Publishes a node's inventory", new AgentCommand(System.out));
    }
}
