package features

const (
	// Counting counts.
	Counting featuregate.Feature = "Counting"
	Renamed  featuregate.Feature = "OtherName"
)

var gates = map[featuregate.Feature]featuregate.VersionedSpecs{
	Counting: {
		{Version: version.MustParse("1.30"), Default: false, PreRelease: featuregate.Alpha},
		{Version: version.MustParse("1.32"), Default: true, PreRelease: featuregate.GA, LockToDefault: true},
	},
	genericfeatures.Renamed: {
		{Version: version.MustParse("1.31"), Default: true, PreRelease: featuregate.Beta},
	},
}

var gateDependencies = map[featuregate.Feature][]featuregate.Feature{
	Counting: {genericfeatures.Renamed},
}
