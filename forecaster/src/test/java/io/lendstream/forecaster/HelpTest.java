package io.lendstream.forecaster;

import io.lendstream.service.fake.HelpPage;
import org.junit.jupiter.api.Test;

class HelpTest {
    @Test
    void theHelpBeginsWithWhatTheServiceDoes() {
        HelpPage.mustBeginWith("Forecasts each service's demand", new ForecasterMain());
    }
}
