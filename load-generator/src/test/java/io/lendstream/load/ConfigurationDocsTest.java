package io.lendstream.load;

import io.lendstream.service.fake.ConfigurationPage;
import org.junit.jupiter.api.Test;

class ConfigurationDocsTest {
    @Test
    void thePageDescribesEverySettingAsItIs() {
        ConfigurationPage.mustDescribe("load", LoadKeys.ALL);
    }
}
