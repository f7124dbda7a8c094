"""Why a server reports no runs: probes of one or two requests each."""
