/** The services as processes of their own on a real broker: started, killed, fed with poison and stopped. What they do inside is tested where they are. */
@NullMarked
package io.lendstream.launcher.services;

import org.jspecify.annotations.NullMarked;
